"""What every call is checked for before the core sees it: ids, names, enums, texts."""

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from hashlib import sha256
from typing import Literal

from google.protobuf.message import Message

from sealedshoe_audit.names import parse_round_name, parse_table_name
from sealedshoe_audit.records import MAX_ID_BYTES, MAX_TEXT_BYTES
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.dealing.wagers import Offer, check_reference
from sealedshoe_server.errors import Reason, invalid
from sealedshoe_server.storage.interface import Request
from sealedshoe_server.v1.game_service_pb2 import ListRoundsRequest, NewWager

# Identity of the caller of the current call; set by `services.registration`.
CALLER: ContextVar[str] = ContextVar("CALLER")
SALT_BYTES = 16
MIN_TIME_S, MAX_TIME_S = -62_135_596_800, 253_402_300_799  # of google.protobuf.Timestamp


def request_of(message: Message, request_id: str, round_name: str = "") -> Request:
    """Returns the idempotency key of a mutating call: who, which id, and what was asked.

    Raises:
        GameError: REQUEST_ID_MISSING or FIELD_INVALID.
    """
    if not request_id:
        raise invalid(Reason.REQUEST_ID_MISSING, "request_id", "must be given")
    check_reference(request_id, "request_id")
    body = message.DESCRIPTOR.full_name.encode() + b"\x00"
    body += message.SerializeToString(deterministic=True)
    return Request(CALLER.get(), request_id, sha256(body).digest(), round_name)


def table_id(name: str, field: str) -> str:
    """Returns the id in `tables/7`.

    Raises:
        GameError: NAME_INVALID.
    """
    table = parse_table_name(name)
    if table is None:
        raise invalid(Reason.NAME_INVALID, field, "must be like tables/7")
    return table


def round_id(name: str, field: str) -> tuple[str, int]:
    """Returns table id and number in `tables/7/rounds/12`.

    Raises:
        GameError: NAME_INVALID.
    """
    parsed = parse_round_name(name)
    if parsed is None:
        raise invalid(Reason.NAME_INVALID, field, "must be like tables/7/rounds/12")
    return parsed


def opening_hash(value: bytes) -> bytes:
    """Returns a 32-byte leaf hash.

    Raises:
        GameError: FIELD_INVALID.
    """
    if len(value) != 32:
        raise invalid(Reason.FIELD_INVALID, "opening_hash", "must be 32 bytes")
    return value


def offers_of(
    wagers: Sequence[NewWager], random_bytes: Callable[[int], bytes]
) -> tuple[Offer, ...]:
    """Returns the wagers on offer, each with a fresh salt."""
    return tuple(
        Offer(wager.wager_id, wager.spot, wager.stake, wager.player, random_bytes(SALT_BYTES))
        for wager in wagers
    )


def accountability(by: pb.Accountability) -> pb.Accountability:
    """Returns who did it; without an actor, the caller is.

    Raises:
        GameError: FIELD_INVALID.
    """
    given = pb.Accountability(
        actor=by.actor or CALLER.get()[:MAX_ID_BYTES],
        authorised_by=by.authorised_by,
        reason=by.reason,
    )
    for field, text, most in (
        ("by.actor", given.actor, MAX_ID_BYTES),
        ("by.authorised_by", given.authorised_by, MAX_ID_BYTES),
        ("by.reason", given.reason, MAX_TEXT_BYTES),
    ):
        if len(text.encode()) > most:
            raise invalid(Reason.FIELD_INVALID, field, f"must be at most {most} bytes")
    return given


def check_enum(value: int, values: Sequence[int], field: str) -> None:
    """Refuses 0 and numbers that the enum does not have.

    Raises:
        GameError: ENUM_UNSPECIFIED or FIELD_INVALID.
    """
    if value == 0:
        raise invalid(Reason.ENUM_UNSPECIFIED, field, "must be given")
    if value not in values:
        raise invalid(Reason.FIELD_INVALID, field, f"has no value {value}")


def page_size(asked: int, default: int, most: int) -> int:
    """Returns the size of a page.

    Raises:
        GameError: FIELD_INVALID.
    """
    if not 0 <= asked <= most:
        raise invalid(Reason.FIELD_INVALID, "page_size", f"must be 0 to {most}")
    return asked or default


def page_index(token: str) -> int | None:
    """Returns the leaf index that a page token stands for; None for the first page.

    Raises:
        GameError: PAGE_TOKEN_INVALID.
    """
    if not token:
        return None
    if not (token.isascii() and token.isdigit() and len(token) <= 18):
        raise invalid(Reason.PAGE_TOKEN_INVALID, "page_token", "was not given by this server")
    return int(token)


def time_us(
    request: ListRoundsRequest, field: Literal["opened_from", "opened_before"]
) -> int | None:
    """Returns a time filter in microseconds; None when it is not given.

    Raises:
        GameError: FIELD_INVALID.
    """
    if not request.HasField(field):
        return None
    given = request.opened_from if field == "opened_from" else request.opened_before
    if not (MIN_TIME_S <= given.seconds <= MAX_TIME_S and 0 <= given.nanos < 10**9):
        raise invalid(Reason.FIELD_INVALID, field, "must lie in the years 1 to 9999")
    return given.ToMicroseconds()
