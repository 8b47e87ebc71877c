"""The life of a table: suspend, resume, drain, close, void, retire; and why no round is open."""

import asyncio

import pytest

from sealedshoe_audit.records import Record
from sealedshoe_audit.v1 import game_pb2
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.v1 import game_service_pb2 as pb_game
from sealedshoe_server.v1 import operator_service_pb2 as pb_op
from tests.server.conftest import Start
from tests.server.reading import stored_records
from tests.server.refusals import refusal_of
from tests.server.running import Running, State, wager

ENABLED, SUSPENDED = State.TABLE_STATE_ENABLED, State.TABLE_STATE_SUSPENDED
DRAINING, CLOSED = State.TABLE_STATE_DRAINING, State.TABLE_STATE_CLOSED


def kinds(server: Running, last: int) -> list[str]:
    """Names of the log's last records."""
    return [type(record).__name__ for record in stored_records(server.data_dir)[-last:]]


def last(server: Running, kind: type[Record]) -> Record:
    """The newest record of a kind."""
    return [r for r in stored_records(server.data_dir) if isinstance(r, kind)][-1]


async def void(server: Running, number: int, table: str = "t") -> pb_op.VoidRoundResponse:
    """VoidRound for an operator's error."""
    request = pb_op.VoidRoundRequest(
        request_id=server.fresh(),
        round=f"tables/{table}/rounds/{number}",
        cause=pb.VoidCause.VOID_CAUSE_OPERATOR_ERROR,
    )
    return await server.operator.VoidRound(request)


async def retire(server: Running, void_cause: int = 0) -> pb_op.RetireShoeResponse:
    """RetireShoe at the operator's wish."""
    request = pb_op.RetireShoeRequest(
        request_id=server.fresh(),
        table="tables/t",
        cause=pb.RetireCause.RETIRE_CAUSE_OPERATOR,
        void_cause=pb.VoidCause.ValueType(void_cause),
    )
    return await server.operator.RetireShoe(request)


async def test_a_suspended_table_keeps_its_round_and_refuses_play(house: Running) -> None:
    """The open round with its wager waits; after the resume it is dealt."""
    await house.place(wager("standing"))
    before = (await house.table()).round
    await house.set_state(SUSPENDED)
    for call in (house.deal(wagers=[]), house.place(wager("late"))):
        refusal = await refusal_of(call)
        assert (refusal.code, refusal.reason) == ("FAILED_PRECONDITION", "TABLE_SUSPENDED")
    table = await house.table()
    assert (table.table.state, table.round.opening_hash) == (SUSPENDED, before.opening_hash)
    answer = await house.set_state(ENABLED)
    assert [record.index for record in answer.records] == [7]
    dealt = await house.deal(wagers=[])
    assert dealt.name == "tables/t/rounds/1"


async def test_a_draining_table_deals_its_round_and_closes(house: Running) -> None:
    """The result opens no round: the shoe is retired and revealed, the table closed."""
    await house.set_state(DRAINING)
    dealt = await house.deal()
    assert dealt.no_next_round_reason == "TABLE_CLOSED"
    assert kinds(house, 3) == ["RoundDealt", "ShoeRetired", "TableChanged"]
    assert (await house.table()).table.state == CLOSED
    refusal = await refusal_of(house.set_state(ENABLED))
    assert refusal.reason == "TABLE_STATE_UNREACHABLE"


async def test_draining_a_one_round_shoe_needs_no_retirement(quick: Running) -> None:
    """The result has revealed the shoe already."""
    await quick.set_state(DRAINING)
    await quick.deal()
    assert kinds(quick, 2) == ["RoundDealt", "TableChanged"]


async def test_draining_can_be_called_off(house: Running) -> None:
    """Enabled again before its last result, the table plays on."""
    await house.set_state(DRAINING)
    await house.set_state(ENABLED)
    assert (await house.deal()).next_round.name == "tables/t/rounds/2"


async def test_draining_a_table_without_a_round_closes_it(house: Running) -> None:
    """There is no result to wait for."""
    await house.set_state(SUSPENDED)
    await void(house, 1)
    answer = await house.set_state(DRAINING)
    assert answer.state == CLOSED
    assert kinds(house, 2) == ["ShoeRetired", "TableChanged"]


async def test_closing_returns_stakes_reveals_and_closes_in_one_append(house: Running) -> None:
    """Void, retirement and closing stand behind one another, under one head."""
    await house.place(wager("a", 100), wager("b", 200, "tie"))
    answer = await house.set_state(CLOSED)
    assert kinds(house, 3) == ["RoundVoided", "ShoeRetired", "TableChanged"]
    assert [record.index for record in answer.records] == [6, 7, 8]
    voided = last(house, pb.RoundVoided)
    assert isinstance(voided, pb.RoundVoided)
    assert [(r.wager_id, r.stake) for r in voided.returned] == [("a", 100), ("b", 200)]
    assert voided.cause == pb.VoidCause.VOID_CAUSE_TABLE_CLOSED
    table = (await house.table()).table
    assert (table.state, table.open_round) == (CLOSED, "")


async def test_a_void_brings_the_same_cards_again(house: Running) -> None:
    """A shoe of several rounds goes on at the same position: nobody gains other cards by a void."""
    await house.deal()
    position = _opening(house).first_position
    await void(house, 2)
    assert kinds(house, 2) == ["RoundVoided", "RoundOpened"]
    opening = _opening(house)
    assert (opening.round_number, opening.first_position) == (3, position)
    assert not opening.HasField("shoe")
    await house.deal()
    dealt = last(house, pb.RoundDealt)
    assert isinstance(dealt, pb.RoundDealt)
    assert dealt.cards[0].position == position


def _opening(server: Running) -> pb.RoundOpened:
    opening = last(server, pb.RoundOpened)
    assert isinstance(opening, pb.RoundOpened)
    return opening


async def test_a_void_of_a_one_round_shoe_reveals_it(quick: Running) -> None:
    """The shoe of a voided round is retired: its cards are shown and never dealt."""
    await void(quick, 1)
    assert kinds(quick, 3) == ["RoundVoided", "ShoeRetired", "RoundOpened"]
    retired = last(quick, pb.ShoeRetired)
    assert isinstance(retired, pb.ShoeRetired)
    assert retired.cause == pb.RetireCause.RETIRE_CAUSE_ROUND_VOIDED
    assert len(retired.closing.seed) == 432  # 48 + 128 * 3
    assert retired.closing.cards_dealt == 0
    assert _opening(quick).shoe.shoe_number == 2


async def test_a_dealt_round_is_final(house: Running) -> None:
    """It cannot be voided."""
    await house.deal()
    refusal = await refusal_of(void(house, 1))
    assert refusal.reason == "ROUND_NOT_OPEN"


@pytest.mark.parametrize("state", [SUSPENDED, DRAINING])
async def test_a_void_outside_play_opens_no_round(
    house: Running, state: pb.TableState.ValueType
) -> None:
    """A suspended table waits, and says why; a draining one is closed by it."""
    await house.set_state(state)
    await void(house, 1)
    table = (await house.table()).table
    assert table.open_round == ""
    expected = (SUSPENDED, "TABLE_SUSPENDED") if state == SUSPENDED else (CLOSED, "TABLE_CLOSED")
    assert (table.state, table.no_round_reason) == expected
    if state == SUSPENDED:
        await house.set_state(ENABLED)
        assert (await house.table()).table.open_round == "tables/t/rounds/2"
        assert (await house.table()).table.no_round_reason == ""


async def test_a_shoe_is_retired_and_the_next_one_opened(house: Running) -> None:
    """Revealed with the number of cards dealt; the next round has shoe 2."""
    await house.deal()
    dealt = last(house, pb.RoundDealt)
    assert isinstance(dealt, pb.RoundDealt)
    await retire(house)
    assert kinds(house, 3) == ["RoundVoided", "ShoeRetired", "RoundOpened"]
    retired = last(house, pb.ShoeRetired)
    assert isinstance(retired, pb.ShoeRetired)
    assert retired.closing.cards_dealt == len(dealt.cards)
    assert _opening(house).shoe.shoe_number == 2


async def test_a_shoe_under_wagers_is_retired_only_with_their_void(house: Running) -> None:
    """Without a cause for the void it is refused; with one, stakes go back in the same append."""
    await house.place(wager("a"))
    refusal = await refusal_of(retire(house))
    assert refusal.reason == "WAGERS_STANDING"
    await retire(house, pb.VoidCause.VOID_CAUSE_REGULATOR_ORDER)
    voided = last(house, pb.RoundVoided)
    assert isinstance(voided, pb.RoundVoided)
    assert voided.cause == pb.VoidCause.VOID_CAUSE_REGULATOR_ORDER
    assert [r.wager_id for r in voided.returned] == ["a"]


async def test_an_idle_shoe_that_has_dealt_is_retired(start: Start) -> None:
    """After the limit without a wager; a shoe that has dealt nothing stays for ever."""
    server = await start()
    await server.install()
    await server.open_table("fresh", idle_limit_s=1)
    await server.open_table("t", idle_limit_s=1)
    await server.deal()
    await server.until(pb.ShoeRetired, cause=pb.RetireCause.RETIRE_CAUSE_IDLE)
    retired = last(server, pb.ShoeRetired)
    assert isinstance(retired, pb.ShoeRetired)
    assert retired.link.table == "t"
    await server.until(pb.RoundOpened, round_number=3)
    assert (await server.table("fresh")).table.open_round == "tables/fresh/rounds/1"


async def test_a_table_with_its_own_dealer_takes_wagers_from_all(start: Start) -> None:
    """Anyone may bet; only the named caller deals. On loopback everybody is "loopback"."""
    server = await start()
    await server.install()
    await server.open_table("mine", dealer="loopback")
    await server.open_table("theirs", dealer="spiffe://example/dealer")
    assert (await server.deal("mine")).name == "tables/mine/rounds/1"
    await server.place(wager("a"), table="theirs")
    refusal = await refusal_of(server.deal("theirs", []))
    assert (refusal.code, refusal.reason) == ("PERMISSION_DENIED", "NOT_THE_DEALER")


async def test_a_round_without_wagers_is_not_dealt_beyond_the_games_allowance(
    start: Start,
) -> None:
    """One free round a shoe by this game: the first goes, the second is refused, a bet goes."""
    server = await start()
    await server.install(free_rounds=1)
    await server.open_table()
    await server.deal(wagers=[])
    refusal = await refusal_of(server.deal(wagers=[]))
    assert (refusal.code, refusal.reason) == ("FAILED_PRECONDITION", "NO_WAGERS")
    await server.deal()


async def test_tables_are_listed_by_id_in_pages(house: Running) -> None:
    """Each table once, the last page without a token."""
    for name in ("b", "a", "c"):
        await house.open_table(name)
    names: list[str] = []
    token = ""
    while True:
        request = pb_game.ListTablesRequest(page_size=3, page_token=token)
        page = await house.game.ListTables(request)
        names += [table.name for table in page.tables]
        token = page.next_page_token
        if not token:
            break
    assert names == ["tables/a", "tables/b", "tables/c", "tables/t"]


async def test_settings_are_served_with_the_currencys_digits(start: Start) -> None:
    """The server fills them in from ISO 4217: none for the yen, three for the dinar."""
    server = await start()
    await server.install()
    for currency, digits in (("JPY", 0), ("KWD", 3), ("USD", 2)):
        await server.open_table(currency.lower(), currency=currency)
        settings = (await server.table(currency.lower())).table.settings
        assert (settings.currency_digits, settings.limits.currency) == (digits, currency)
        assert isinstance(settings.limits, game_pb2.Limits)


async def test_two_creations_of_one_table_make_one(house: Running) -> None:
    """Under different request ids, at once: one is created, the other is told."""
    done = await asyncio.gather(
        house.open_table("new"), house.open_table("new"), return_exceptions=True
    )
    assert sorted(type(result).__name__ for result in done) == ["AioRpcError", "NoneType"]


async def test_a_lost_seed_closes_the_table_and_admits_it(start: Start) -> None:
    """Sealed with a key that is gone: no deal, a recorded event, and a retirement that says so."""
    server = await start()
    await server.install()
    await server.open_table()
    await server.place(wager("a"))
    await server.stop()
    key = server.data_dir / "keys" / "sealing.key"
    key.write_text("00" * 32 + "\n")
    again = await start()
    again.notices = {"SEED_UNAVAILABLE"}
    refusal = await refusal_of(again.deal(wagers=[]))
    assert (refusal.code, refusal.reason) == ("UNAVAILABLE", "SEED_UNAVAILABLE")
    await again.until(pb.EventRecorded, event_class=pb.EventClass.EVENT_CLASS_SEED_UNAVAILABLE)
    await retire(again, pb.VoidCause.VOID_CAUSE_SEED_UNAVAILABLE)
    retired = last(again, pb.ShoeRetired)
    assert isinstance(retired, pb.ShoeRetired)
    assert (retired.seed_unavailable, retired.closing.seed) == (True, b"")
    assert (await again.deal()).name == "tables/t/rounds/2"
