"""The google.rpc messages, which come without type stubs, behind typed functions."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import grpc
from google.protobuf import any_pb2, duration_pb2
from google.rpc import (  # type: ignore[import-untyped] # generated, without stubs
    code_pb2,
    error_details_pb2,
    status_pb2,
)
from grpc_status import rpc_status

DOMAIN = "sealedshoe"
_rpc_status: Any = rpc_status


def make_status(
    code: str,
    message: str,
    reason: str,
    metadata: Mapping[str, str],
    fields: Sequence[tuple[str, str]],
    retry_after_ms: int | None,
) -> grpc.Status:
    """Returns a status with one ErrorInfo, and BadRequest and RetryInfo where they apply (AIP-193)."""
    details: list[Any] = [
        error_details_pb2.ErrorInfo(reason=reason, domain=DOMAIN, metadata=metadata)
    ]
    if fields:
        violation: Any = error_details_pb2.BadRequest.FieldViolation
        violations = [violation(field=field, description=problem) for field, problem in fields]
        details.append(error_details_pb2.BadRequest(field_violations=violations))
    if retry_after_ms is not None:
        delay = duration_pb2.Duration()
        delay.FromMilliseconds(retry_after_ms)
        details.append(error_details_pb2.RetryInfo(retry_delay=delay))
    packed = [any_pb2.Any() for _ in details]
    for target, detail in zip(packed, details, strict=True):
        target.Pack(detail)
    number: int = code_pb2.Code.Value(code)
    status: Any = status_pb2.Status(code=number, message=message, details=packed)
    made: grpc.Status = _rpc_status.to_status(status)
    return made


def refusal_details(error: grpc.Call) -> Iterator[Any]:
    """Yields the ErrorInfo and BadRequest of a refused call."""
    status = _rpc_status.from_call(error)
    for packed in status.details if status is not None else ():
        for kind in (error_details_pb2.ErrorInfo, error_details_pb2.BadRequest):
            detail = kind()
            if packed.Unpack(detail):
                yield detail
