"""Bytes that are no message, or too many of them."""

import grpc
import pytest

from tests.server.bad_input import (
    BAD,
    COLUMNS,
    MUCH,
    Call,
    Floor,
    Table,
    assert_refused,
)
from tests.server.refusals import refusal_of

pytestmark = pytest.mark.asyncio(loop_scope="module")
table = Table()
case = table.case

case(
    "malformed bytes",
    BAD,
    "MESSAGE_MALFORMED",
    "request",
    lambda f: f.server.channel.unary_unary("/sealedshoe_server.v1.GameService/DealRound")(b"\xff"),
)
case(
    "text that is not UTF-8",
    BAD,
    "MESSAGE_MALFORMED",
    "request",
    lambda f: f.server.channel.unary_unary("/sealedshoe_server.v1.GameService/GetTable")(
        b"\x0a\x02\xff\xff"
    ),
)
case(
    "oversize message",
    MUCH,
    "MESSAGE_TOO_LARGE",
    None,
    lambda f: f.install("#" * 70_000),
)


@pytest.mark.parametrize(COLUMNS, table.rows)
async def test_bad_bytes_are_refused(
    floor: Floor, call: Call, code: str, reason: str, field: str | None
) -> None:
    """With its reason and field, and nothing written."""
    await assert_refused(floor, call, code, reason, field)


async def test_a_message_far_beyond_the_limit_is_cut_off_by_the_transport(floor: Floor) -> None:
    """Beyond four times the limit gRPC refuses without reading: the same canonical code."""
    refusal = await refusal_of(floor.install("#" * 300_000))
    assert refusal.code == "RESOURCE_EXHAUSTED"


async def test_a_method_that_does_not_exist_is_unimplemented(floor: Floor) -> None:
    """Nothing answers to a made-up name."""
    call = floor.server.channel.unary_unary("/sealedshoe_server.v1.GameService/PeekCards")
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call(b"")
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
