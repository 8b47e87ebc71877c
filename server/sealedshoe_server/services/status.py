"""Each reason's canonical gRPC code, and refusals as statuses."""

import grpc
from grpc import StatusCode

from sealedshoe_server.errors import GameError, Reason
from sealedshoe_server.google_rpc import make_status

_CODES: dict[StatusCode, tuple[Reason, ...]] = {
    StatusCode.INVALID_ARGUMENT: (
        Reason.MESSAGE_MALFORMED,
        Reason.REQUEST_ID_MISSING,
        Reason.FIELD_INVALID,
        Reason.NAME_INVALID,
        Reason.ENUM_UNSPECIFIED,
        Reason.PAGE_TOKEN_INVALID,
        Reason.BET_UNKNOWN,
        Reason.CURRENCY_UNKNOWN,
        Reason.STAKE_NOT_POSITIVE,
        Reason.STAKE_OFF_STEP,
        Reason.WAGER_ID_DUPLICATE,
        Reason.GAME_DEFINITION_INVALID,
        Reason.TABLE_SETTINGS_INVALID,
        Reason.KEY_CHANGE_INVALID,
    ),
    StatusCode.OUT_OF_RANGE: (
        Reason.STAKE_BELOW_MINIMUM,
        Reason.STAKE_ABOVE_MAXIMUM,
        Reason.SPOT_ABOVE_MAXIMUM,
        Reason.TREE_SIZE_UNKNOWN,
    ),
    StatusCode.NOT_FOUND: (
        Reason.TABLE_NOT_FOUND,
        Reason.GAME_NOT_FOUND,
        Reason.ROUND_NOT_FOUND,
    ),
    StatusCode.FAILED_PRECONDITION: (
        Reason.ROUND_NOT_OPEN,
        Reason.ROUND_NOT_FINISHED,
        Reason.OPENING_MISMATCH,
        Reason.TABLE_SUSPENDED,
        Reason.TABLE_CLOSED,
        Reason.TABLE_STATE_UNREACHABLE,
        Reason.BETTING_WINDOW_OPEN,
        Reason.NO_WAGERS,
        Reason.WAGERS_STANDING,
        Reason.SHOE_NOT_OPEN,
        Reason.LOG_CLOSED,
        Reason.KEY_CHANGE_WAITING,
    ),
    StatusCode.ALREADY_EXISTS: (
        Reason.REQUEST_ID_REUSED,
        Reason.REQUEST_ID_EXPIRED,
        Reason.TABLE_EXISTS,
        Reason.GAME_EXISTS,
    ),
    StatusCode.RESOURCE_EXHAUSTED: (
        Reason.MESSAGE_TOO_LARGE,
        Reason.TOO_MANY_WAGERS,
        Reason.READER_TOO_SLOW,
    ),
    StatusCode.PERMISSION_DENIED: (Reason.NOT_THE_DEALER, Reason.CALLER_UNNAMED),
    StatusCode.UNAVAILABLE: (
        Reason.RNG_FAILED,
        Reason.SEED_UNAVAILABLE,
        Reason.STORAGE_FAILED,
        Reason.SERVER_DRAINING,
        Reason.AWAITING_COSIGNATURE,
        Reason.COSIGNING_BEHIND,
        Reason.LOG_FORKED,
    ),
    StatusCode.INTERNAL: (Reason.INTERNAL,),
}
CODE_OF = {reason: code for code, reasons in _CODES.items() for reason in reasons}


def to_status(error: GameError) -> grpc.Status:
    """Returns the status that tells a caller why."""
    return make_status(
        CODE_OF[error.reason].name,
        error.message,
        str(error.reason),
        error.metadata,
        error.fields,
        error.retry_after_ms,
    )
