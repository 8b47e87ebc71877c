"""Every documented reason has its canonical code, and is met by a test."""

from pathlib import Path

import pytest
from grpc import StatusCode

from sealedshoe_server.errors import GameError, Reason
from sealedshoe_server.services.status import CODE_OF, to_status

CODES = {
    StatusCode.INVALID_ARGUMENT: """MESSAGE_MALFORMED REQUEST_ID_MISSING FIELD_INVALID NAME_INVALID
        ENUM_UNSPECIFIED PAGE_TOKEN_INVALID BET_UNKNOWN CURRENCY_UNKNOWN STAKE_NOT_POSITIVE
        STAKE_OFF_STEP WAGER_ID_DUPLICATE GAME_DEFINITION_INVALID TABLE_SETTINGS_INVALID
        KEY_CHANGE_INVALID""",
    StatusCode.OUT_OF_RANGE: """STAKE_BELOW_MINIMUM STAKE_ABOVE_MAXIMUM SPOT_ABOVE_MAXIMUM
        TREE_SIZE_UNKNOWN""",
    StatusCode.NOT_FOUND: "TABLE_NOT_FOUND GAME_NOT_FOUND ROUND_NOT_FOUND",
    StatusCode.FAILED_PRECONDITION: """ROUND_NOT_OPEN ROUND_NOT_FINISHED OPENING_MISMATCH
        TABLE_SUSPENDED TABLE_CLOSED TABLE_STATE_UNREACHABLE BETTING_WINDOW_OPEN NO_WAGERS
        WAGERS_STANDING SHOE_NOT_OPEN LOG_CLOSED KEY_CHANGE_WAITING""",
    StatusCode.ALREADY_EXISTS: "REQUEST_ID_REUSED REQUEST_ID_EXPIRED TABLE_EXISTS GAME_EXISTS",
    StatusCode.RESOURCE_EXHAUSTED: "MESSAGE_TOO_LARGE TOO_MANY_WAGERS READER_TOO_SLOW",
    StatusCode.PERMISSION_DENIED: "NOT_THE_DEALER CALLER_UNNAMED",
    StatusCode.UNAVAILABLE: """RNG_FAILED SEED_UNAVAILABLE STORAGE_FAILED SERVER_DRAINING
        AWAITING_COSIGNATURE COSIGNING_BEHIND LOG_FORKED""",
    StatusCode.INTERNAL: "INTERNAL",
}


def test_every_reason_has_its_code() -> None:
    """The table of the API, written here a second time."""
    expected = {reason: code for code, names in CODES.items() for reason in names.split()}
    assert {str(reason): code for reason, code in CODE_OF.items()} == expected
    assert {str(reason) for reason in Reason} == set(expected)


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_is_met_by_a_test(reason: Reason) -> None:
    """By name in this folder."""
    texts = [
        path.read_text("utf-8")
        for path in Path(__file__).parent.glob("test_*.py")
        if path.name != Path(__file__).name
    ]
    met = any(f'"{reason}"' in text or f"Reason.{reason}" in text for text in texts)
    assert met


@pytest.mark.parametrize("reason", list(Reason))
def test_every_refusal_can_be_told(reason: Reason) -> None:
    """A status comes out, whatever the refusal carries."""
    error = GameError(reason, "text", fields=[("a", "b")], metadata={"k": "v"}, retry_after_ms=5)
    status = to_status(error)
    assert status.code is CODE_OF[reason]
    assert status.details == "text"
