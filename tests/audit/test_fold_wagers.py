"""Wagers and settlements that a table's limits, its game or the round's outcome do not allow are refused."""

from collections.abc import Callable

import pytest

from sealedshoe_audit.errors import Code
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.v1.game_pb2 import BET_RESULT_LOSE, BET_RESULT_PUSH, BET_RESULT_WIN, Limits
from tests.audit.forge.log import ForgedLog, nth
from tests.audit.forge.published import check_log, errors
from tests.audit.forge.stories import SHORT, long_story, table_of
from tests.audit.forge.table import ForgedTable, install, wager

Change = Callable[[pb.RoundDealt], object]
ANOTHER = {
    "wager_id": "z",
    "spot": "tie",
    "stake": 980,
    "player_commitment": bytes(32),
}


def refusal(change: Change) -> list[Code]:
    """Returns the findings on a log whose first result (won by Banker) was changed before signing."""
    return errors(check_log(long_story(nth(pb.RoundDealt, 1, change)).log))


@pytest.mark.parametrize("field", ANOTHER)
def test_a_standing_wager_is_settled_as_it_was_accepted(field: str) -> None:
    def change(dealt: pb.RoundDealt) -> None:
        setattr(dealt.settlements[0].wager, field, ANOTHER[field])

    assert refusal(change) == [Code.SETTLEMENT]


def reorder(dealt: pb.RoundDealt) -> None:
    """Exchanges two standing wagers with their settlements."""
    first = pb.Settlement.FromString(dealt.settlements[0].SerializeToString())
    dealt.settlements[0].CopyFrom(dealt.settlements[1])
    dealt.settlements[1].CopyFrom(first)


def put_last(dealt: pb.RoundDealt) -> None:
    """Settles a standing wager behind the one taken with the deal."""
    dealt.settlements.append(dealt.settlements.pop(0))


MISSING: dict[str, Change] = {
    "first standing": lambda r: r.settlements.pop(0),
    "last standing": lambda r: r.settlements.pop(2),
    "all": lambda r: r.ClearField("settlements"),
    "reordered": reorder,
    "behind a new one": put_last,
    "standing one twice": lambda r: r.settlements.insert(0, r.settlements[0]),
    "without its wager": lambda r: r.settlements[0].ClearField("wager"),
}


@pytest.mark.parametrize("change", MISSING.values(), ids=MISSING.keys())
def test_standing_wagers_are_settled_all_once_and_in_order(change: Change) -> None:
    assert refusal(change) == [Code.SETTLEMENT]


# Banker won: a (Player 1000) and b (Tie 200) lost, c (Banker 2000) and d (Banker 400, with the deal) won.
MONEY: dict[str, Change] = {
    "winner pushed": lambda r: setattr(r.settlements[2], "result", BET_RESULT_PUSH),
    "winner lost": lambda r: setattr(r.settlements[2], "result", BET_RESULT_LOSE),
    "loser won": lambda r: setattr(r.settlements[0], "result", BET_RESULT_WIN),
    "no result": lambda r: r.settlements[0].ClearField("result"),
    "paid one more": lambda r: setattr(r.settlements[2], "gross_return", 4001),
    "paid one less": lambda r: setattr(r.settlements[2], "gross_return", 3999),
    "loser paid": lambda r: setattr(r.settlements[0], "gross_return", 1000),
    "loser owes": lambda r: setattr(r.settlements[0], "gross_return", -1000),
    "more commission": lambda r: setattr(r.settlements[2], "commission", 101),
    "less commission": lambda r: setattr(r.settlements[2], "commission", 99),
    "negative commission": lambda r: setattr(r.settlements[2], "commission", -100),
    "commission on a loss": lambda r: setattr(r.settlements[0], "commission", 50),
    "new wager paid more": lambda r: setattr(r.settlements[3], "gross_return", 820),
    "new wager's stake raised after": lambda r: setattr(r.settlements[3].wager, "stake", 420),
    "new wager's spot changed after": lambda r: setattr(r.settlements[3].wager, "spot", "tie"),
}


@pytest.mark.parametrize("change", MONEY.values(), ids=MONEY.keys())
def test_every_field_of_a_settlement_is_worked_out_again(change: Change) -> None:
    assert refusal(change) == [Code.SETTLEMENT]


def test_a_settlement_with_an_unlisted_result_is_a_finding() -> None:
    assert refusal(lambda r: setattr(r.settlements[2], "result", 99)) == [Code.SETTLEMENT]


def placed(
    *wagers: pb.Wager, spot_maximum: int = 0, dealt: tuple[pb.Wager, ...] = ()
) -> list[Code]:
    """Returns the findings on a round with wagers before and with the deal; 100 to 1000 in steps of 20."""
    log = ForgedLog()
    install(log, SHORT)
    limits = Limits(currency="EUR", minimum=100, maximum=1000, step=20, spot_maximum=spot_maximum)
    table = ForgedTable(log, "7", SHORT, limits)
    table.open()
    if wagers:
        table.accept(*wagers)
    table.deal(*dealt)
    return errors(check_log(log))


def without_commitment(size: int) -> pb.Wager:
    """Returns a wager whose player commitment has another length."""
    made = wager("a", "player", 100)
    made.player_commitment = bytes(size)
    return made


BAD_WAGERS: dict[str, tuple[pb.Wager, Code]] = {
    "off the step": (wager("a", "player", 110), Code.WAGER),
    "one unit": (wager("a", "player", 1), Code.WAGER),
    "zero": (wager("a", "player", 0), Code.WAGER),
    "negative": (wager("a", "player", -100), Code.WAGER),
    "over the maximum": (wager("a", "player", 1020), Code.WAGER),
    "int64 maximum": (wager("a", "player", 2**63 - 1), Code.WAGER),
    "unknown bet": (wager("a", "dragon-7", 100), Code.WAGER),
    "no bet": (wager("a", "", 100), Code.WAGER),
    "no id": (wager("", "player", 100), Code.RECORD_LIMITS),
    "id of 65 bytes": (wager("é" * 32 + "x", "player", 100), Code.RECORD_LIMITS),
    "no commitment": (without_commitment(0), Code.WAGER),
    "short commitment": (without_commitment(31), Code.WAGER),
    "long commitment": (without_commitment(33), Code.WAGER),
}


@pytest.mark.parametrize(("bad", "code"), BAD_WAGERS.values(), ids=BAD_WAGERS.keys())
@pytest.mark.parametrize("with_the_deal", [False, True])
def test_a_wager_outside_the_limits_is_refused(
    bad: pb.Wager, code: Code, with_the_deal: bool
) -> None:
    log = ForgedLog()
    install(log, SHORT)
    limits = Limits(currency="EUR", minimum=100, maximum=1000, step=20)
    table = ForgedTable(log, "7", SHORT, limits)
    table.open()
    table.accept(wager("ok", "player", 100))
    if with_the_deal:
        log.tamper = nth(pb.RoundDealt, 1, lambda r: r.settlements.add(wager=bad))
        table.deal()
    else:
        table.accept(bad)
    assert errors(check_log(log)) == [code]


def test_stakes_at_the_bounds_are_taken() -> None:
    assert placed(wager("é" * 32, "player", 1000), wager("b", "tie", 20)) == []


def test_a_wager_id_stands_once_in_a_round() -> None:
    twice = (wager("a", "player", 100), wager("a", "banker", 100))
    assert placed(*twice) == [Code.WAGER]
    assert placed(twice[0], dealt=(twice[1],)) == [Code.WAGER]
    assert placed(dealt=twice) == [Code.WAGER]


def test_the_spot_maximum_bounds_all_players_together() -> None:
    full = [wager("a", "player", 1000), wager("b", "player", 200), wager("c", "tie", 1000)]
    more = wager("d", "player", 20)
    assert placed(*full, spot_maximum=1200) == []
    assert placed(*full, more, spot_maximum=1200) == [Code.WAGER]
    assert placed(*full, dealt=(more,), spot_maximum=1200) == [Code.WAGER]


def test_a_round_takes_128_wagers_over_all_calls_and_no_more() -> None:
    many = [wager(f"w{n}", "tie", 20) for n in range(129)]
    assert placed(*many[:100], dealt=tuple(many[100:128])) == []
    assert placed(*many[:128], dealt=tuple(many[128:])) == [Code.WAGER]
    assert placed(*many) == [Code.WAGER]


def test_wagers_land_only_on_the_opening_they_name() -> None:
    other = nth(pb.WagersAccepted, 1, lambda r: setattr(r, "opening_hash", bytes(32)))
    assert errors(check_log(long_story(other).log)) == [Code.OPENING_MISMATCH]


def test_a_record_of_no_wagers_is_refused() -> None:
    none = nth(pb.WagersAccepted, 1, lambda r: r.ClearField("wagers"))
    assert errors(check_log(long_story(none).log)) == [Code.WAGER]


def test_no_wagers_are_taken_while_no_round_is_open() -> None:
    table = table_of()
    table.accept(wager("a", "player", 100))
    assert errors(check_log(table.log)) == [Code.ROUND_STATE]
