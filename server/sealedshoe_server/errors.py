"""Every refusal as a closed list of reasons.

`GameError` is the only error that callers are told about; `services.status` turns it into a gRPC status
with ErrorInfo, BadRequest and RetryInfo. Anything else becomes INTERNAL with an incident id.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum


class Reason(StrEnum):
    """Machine-readable reasons; documented in docs/api.md."""

    # the request is wrong, whatever the state
    MESSAGE_MALFORMED = "MESSAGE_MALFORMED"
    REQUEST_ID_MISSING = "REQUEST_ID_MISSING"
    FIELD_INVALID = "FIELD_INVALID"
    NAME_INVALID = "NAME_INVALID"
    ENUM_UNSPECIFIED = "ENUM_UNSPECIFIED"
    PAGE_TOKEN_INVALID = "PAGE_TOKEN_INVALID"
    BET_UNKNOWN = "BET_UNKNOWN"
    CURRENCY_UNKNOWN = "CURRENCY_UNKNOWN"
    STAKE_NOT_POSITIVE = "STAKE_NOT_POSITIVE"
    STAKE_OFF_STEP = "STAKE_OFF_STEP"
    WAGER_ID_DUPLICATE = "WAGER_ID_DUPLICATE"
    GAME_DEFINITION_INVALID = "GAME_DEFINITION_INVALID"
    TABLE_SETTINGS_INVALID = "TABLE_SETTINGS_INVALID"
    # the numbers are out of the table's bounds
    STAKE_BELOW_MINIMUM = "STAKE_BELOW_MINIMUM"
    STAKE_ABOVE_MAXIMUM = "STAKE_ABOVE_MAXIMUM"
    SPOT_ABOVE_MAXIMUM = "SPOT_ABOVE_MAXIMUM"
    TREE_SIZE_UNKNOWN = "TREE_SIZE_UNKNOWN"
    # there is no such thing
    TABLE_NOT_FOUND = "TABLE_NOT_FOUND"
    GAME_NOT_FOUND = "GAME_NOT_FOUND"
    ROUND_NOT_FOUND = "ROUND_NOT_FOUND"
    # not in this state
    ROUND_NOT_OPEN = "ROUND_NOT_OPEN"
    ROUND_NOT_FINISHED = "ROUND_NOT_FINISHED"
    OPENING_MISMATCH = "OPENING_MISMATCH"
    TABLE_SUSPENDED = "TABLE_SUSPENDED"
    TABLE_CLOSED = "TABLE_CLOSED"
    TABLE_STATE_UNREACHABLE = "TABLE_STATE_UNREACHABLE"
    BETTING_WINDOW_OPEN = "BETTING_WINDOW_OPEN"
    NO_WAGERS = "NO_WAGERS"
    WAGERS_STANDING = "WAGERS_STANDING"
    SHOE_NOT_OPEN = "SHOE_NOT_OPEN"
    KEY_CHANGE_INVALID = "KEY_CHANGE_INVALID"
    LOG_CLOSED = "LOG_CLOSED"
    # already there
    REQUEST_ID_REUSED = "REQUEST_ID_REUSED"
    REQUEST_ID_EXPIRED = "REQUEST_ID_EXPIRED"
    TABLE_EXISTS = "TABLE_EXISTS"
    GAME_EXISTS = "GAME_EXISTS"
    KEY_CHANGE_WAITING = "KEY_CHANGE_WAITING"
    # too much
    MESSAGE_TOO_LARGE = "MESSAGE_TOO_LARGE"
    TOO_MANY_WAGERS = "TOO_MANY_WAGERS"
    READER_TOO_SLOW = "READER_TOO_SLOW"
    # not allowed
    NOT_THE_DEALER = "NOT_THE_DEALER"
    CALLER_UNNAMED = "CALLER_UNNAMED"
    # not now
    RNG_FAILED = "RNG_FAILED"
    SEED_UNAVAILABLE = "SEED_UNAVAILABLE"
    STORAGE_FAILED = "STORAGE_FAILED"
    SERVER_DRAINING = "SERVER_DRAINING"
    AWAITING_COSIGNATURE = "AWAITING_COSIGNATURE"
    COSIGNING_BEHIND = "COSIGNING_BEHIND"
    LOG_FORKED = "LOG_FORKED"
    INTERNAL = "INTERNAL"


class GameError(Exception):
    """A refusal that the caller is told about; nothing was written.

    Attributes:
        fields: (field path, problem) of the request, as BadRequest.
        metadata: machine-readable context, as ErrorInfo.
        retry_after_ms: when the same call may succeed; None when it will not by waiting.
    """

    def __init__(
        self,
        reason: Reason,
        message: str,
        *,
        fields: Sequence[tuple[str, str]] = (),
        metadata: Mapping[str, str] | None = None,
        retry_after_ms: int | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.fields = tuple(fields)
        self.metadata = dict(metadata or {})
        self.retry_after_ms = retry_after_ms


def invalid(reason: Reason, field: str, problem: str) -> GameError:
    """Returns a refusal of one field."""
    return GameError(reason, f"{field}: {problem}", fields=[(field, problem)])
