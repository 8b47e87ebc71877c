"""What a refused call told its caller, read from google.rpc details."""

from collections.abc import Awaitable
from dataclasses import dataclass

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_status import rpc_status


@dataclass(frozen=True)
class Refusal:
    """One refusal: canonical code, reason, context, field paths, and when to come again."""

    code: str
    reason: str
    metadata: dict[str, str]
    fields: tuple[str, ...]
    retry_after_s: float | None
    message: str


async def refusal_of(call: Awaitable[object]) -> Refusal:
    """Awaits a call that must be refused."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return read_refusal(caught.value)


def read_refusal(error: grpc.aio.AioRpcError) -> Refusal:
    """Takes a status apart."""
    reason, metadata, fields, retry = "", {}, (), None
    status = rpc_status.from_call(error)
    for packed in status.details if status is not None else ():
        info = error_details_pb2.ErrorInfo()
        bad = error_details_pb2.BadRequest()
        again = error_details_pb2.RetryInfo()
        if packed.Unpack(info):
            assert info.domain == "sealedshoe"
            reason, metadata = info.reason, dict(info.metadata)
        elif packed.Unpack(bad):
            fields = tuple(violation.field for violation in bad.field_violations)
        elif packed.Unpack(again):
            retry = again.retry_delay.ToNanoseconds() / 1e9
    return Refusal(error.code().name, reason, metadata, fields, retry, error.details() or "")
