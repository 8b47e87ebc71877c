"""What each command on a table brings about: state and command in, signed records out.

place_wagers   WagersAccepted
deal_round     RoundDealt, then the next RoundOpened, or the table's closing
open_round     RoundOpened (after a resume)
create_table   TableChanged, RoundOpened
set_state      TableChanged, with all that closing a table takes
void_round     RoundVoided, then the same cards again in the next round
retire_shoe    RoundVoided if one is open, ShoeRetired, RoundOpened
"""

from collections.abc import Mapping, Sequence

from sealedshoe_audit.baccarat.definition import GameDefinition, Shuffle
from sealedshoe_audit.baccarat.rules import Hand, Outcome, deal
from sealedshoe_audit.fold.result import settlements
from sealedshoe_audit.fold.state import OpenRound, TableState
from sealedshoe_audit.fold.table import PLAYABLE, earliest_deal_us, may_change
from sealedshoe_audit.shoe.commitment import Shoe
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.dealing.draft import Draft, Surroundings
from sealedshoe_server.dealing.wagers import Offer, check_offers
from sealedshoe_server.errors import GameError, Reason

State = pb.TableState
_HANDS = {Hand.PLAYER: pb.Hand.HAND_PLAYER, Hand.BANKER: pb.Hand.HAND_BANKER}
_OUTCOMES = {
    Outcome.PLAYER: pb.Outcome.OUTCOME_PLAYER,
    Outcome.BANKER: pb.Outcome.OUTCOME_BANKER,
    Outcome.TIE: pb.Outcome.OUTCOME_TIE,
}


def create_table(
    around: Surroundings,
    table: str,
    settings: pb.TableSettings,
    game: GameDefinition,
    by: pb.Accountability,
) -> Draft:
    """A new table with its first round open.

    Raises:
        GameError: RNG_FAILED.
    """
    draft = Draft(around, None)
    record = pb.TableChanged(after=State.TABLE_STATE_ENABLED, settings=settings, by=by)
    draft.create(table, record, game)
    _open_round(draft)
    return draft


def place_wagers(
    around: Surroundings,
    table: TableState,
    round_number: int,
    opening_hash: bytes,
    offers: Sequence[Offer],
    players: Mapping[str, str],
) -> Draft:
    """Takes stakes into the open round.

    Raises:
        GameError: the round is not open under that opening, or a wager is refused.
    """
    check_open(table, round_number, opening_hash)
    if not offers:
        raise GameError(
            Reason.NO_WAGERS, "no wager is offered", fields=[("wagers", "must not be empty")]
        )
    check_offers(table, offers, players)
    draft = Draft(around, table)
    wagers = [offer.wager() for offer in offers]
    draft.add(pb.WagersAccepted(opening_hash=opening_hash, wagers=wagers))
    return draft


def deal_round(
    around: Surroundings,
    table: TableState,
    shoe: Shoe,
    round_number: int,
    opening_hash: bytes,
    offers: Sequence[Offer],
    players: Mapping[str, str],
) -> Draft:
    """Takes the wagers that come with it, deals, settles, and opens what follows.

    Raises:
        GameError: the round is not open under that opening, may not be dealt yet or by this caller,
            or a wager is refused. The cards are not looked at before all of that is settled.
    """
    opened = check_open(table, round_number, opening_hash)
    _check_may_deal(around, table, opened)
    check_offers(table, offers, players)
    _check_free_rounds(table, len(opened.wagers) + len(offers))
    draft = Draft(around, table)
    draft.add(_result(table, opened, shoe, offers))
    _after_result(draft, shoe)
    return draft


def check_open(table: TableState, round_number: int, opening_hash: bytes) -> OpenRound:
    """Returns the open round if it is the one named, under the opening that the caller saw.

    Raises:
        GameError: TABLE_SUSPENDED, TABLE_CLOSED, ROUND_NOT_OPEN or OPENING_MISMATCH.
    """
    if table.state == State.TABLE_STATE_CLOSED:
        raise GameError(Reason.TABLE_CLOSED, "the table is closed")
    if table.state not in PLAYABLE:
        raise GameError(Reason.TABLE_SUSPENDED, "the table is suspended")
    if table.round is None or round_number != table.round_number:
        number = str(table.round_number) if table.round is not None else ""
        name = f"tables/{table.table}/rounds/{number}" if number else ""
        raise GameError(
            Reason.ROUND_NOT_OPEN,
            f"round {round_number} is not open",
            fields=[("round", f"open is {name or 'none'}")],
            metadata={"open_round": name},
        )
    if opening_hash != table.round.opening_hash:
        raise GameError(
            Reason.OPENING_MISMATCH,
            "the wager names another opening than the open round's",
            fields=[("opening_hash", "is not the leaf hash of the open round's RoundOpened")],
        )
    return table.round


def _check_may_deal(around: Surroundings, table: TableState, opened: OpenRound) -> None:
    dealer = table.settings.dealer
    if dealer and around.caller != dealer:
        raise GameError(Reason.NOT_THE_DEALER, "another caller deals at this table")
    earliest = earliest_deal_us(table, opened)
    if around.now_us < earliest:
        wait_ms = -(-(earliest - around.now_us) // 1000)
        raise GameError(
            Reason.BETTING_WINDOW_OPEN,
            f"the round may be dealt in {wait_ms} ms",
            retry_after_ms=wait_ms,
        )


def _check_free_rounds(table: TableState, wagers: int) -> None:
    used = table.shoe.free_rounds_used if table.shoe is not None else 0
    if wagers == 0 and used >= table.game.free_rounds:
        allowed = table.game.free_rounds
        raise GameError(
            Reason.NO_WAGERS,
            f"a round without wagers is not dealt; the game allows {allowed} a shoe",
            fields=[("wagers", "must not be empty")],
        )


def _result(
    table: TableState, opened: OpenRound, shoe: Shoe, offers: Sequence[Offer]
) -> pb.RoundDealt:
    first = opened.first_position
    finished = deal(shoe.order[first : first + 6])
    used = len(finished.hands)
    cards = [
        pb.DealtCard(
            position=position,
            card=shoe.order[position],
            salt=shoe.salt(position),
            hand=_HANDS[hand],
        )
        for position, hand in enumerate(finished.hands, first)
    ]
    wagers = [*opened.wagers, *(offer.wager() for offer in offers)]
    record = pb.RoundDealt(
        round_number=table.round_number,
        opening_hash=opened.opening_hash,
        cards=cards,
        player_total=finished.player_total,
        banker_total=finished.banker_total,
        natural=finished.natural,
        outcome=_OUTCOMES[finished.outcome],
        settlements=settlements(table.game, finished, wagers),
    )
    left = None if table.shoe is None else table.shoe.rounds_left
    if table.game.rounds_left_after(first, first + used, left) == 0:
        record.closing.seed = shoe.seed
        record.closing.cards_dealt = first + used
    return record


def _after_result(draft: Draft, shoe: Shoe | None) -> None:
    """Opens the next round on an enabled table, closes a draining one, leaves a suspended one."""
    state = draft.table.state
    if state == State.TABLE_STATE_DRAINING:
        draft.no_round_reason = str(Reason.TABLE_CLOSED)
        _close(draft, pb.Accountability(actor="server", reason="drained"), shoe)
    elif state == State.TABLE_STATE_SUSPENDED:
        draft.no_round_reason = str(Reason.TABLE_SUSPENDED)
    else:
        try:
            _open_round(draft)
        except GameError as error:
            draft.no_round_reason = str(error.reason)


def open_round(around: Surroundings, table: TableState) -> Draft:
    """Opens a round on an enabled table that has none.

    Raises:
        GameError: RNG_FAILED.
    """
    draft = Draft(around, table)
    _open_round(draft)
    return draft


def _open_round(draft: Draft) -> None:
    """Adds RoundOpened, from the open shoe or from a new one.

    Raises:
        GameError: RNG_FAILED; the draft is as before.
    """
    table, around = draft.table, draft.around
    record = pb.RoundOpened(
        round_number=table.round_number + 1,
        head_size=around.head.size,
        head_root=around.head.root,
        cosigned_head_hash=around.cosigned_head_hash,
    )
    if table.shoe is not None:
        record.shoe_opening_hash = table.shoe.opening_hash
        record.first_position = table.shoe.position
    else:
        shoe = around.draw_shoe(table.table, table.shoe_number + 1, table.game, around.head.root)
        record.shoe.CopyFrom(shoe.opening)
        draft.new_shoe = shoe
    draft.add(record)


def set_state(
    around: Surroundings,
    table: TableState,
    state: pb.TableState.ValueType,
    shoe: Shoe | None,
    by: pb.Accountability,
) -> Draft:
    """Suspends, resumes, drains or closes a table; closing voids, retires and closes in one append.

    Args:
        shoe: the open shoe's cards; None when its seed cannot be had, or none is open.

    Raises:
        GameError: the table cannot go there, or a new shoe cannot be drawn.
    """
    draft = Draft(around, table)
    if table.state == state == State.TABLE_STATE_ENABLED and table.round is None:
        _open_round(draft)
        return draft
    if not may_change(table.state, state):
        raise GameError(
            Reason.TABLE_STATE_UNREACHABLE,
            f"a table in {State.Name(table.state)} cannot go to {State.Name(state)}",
            fields=[("state", "cannot be reached from the table's state")],
        )
    drains_empty = state == State.TABLE_STATE_DRAINING and table.round is None
    if state == State.TABLE_STATE_CLOSED or drains_empty:
        _close(draft, by, shoe)
        return draft
    draft.add(pb.TableChanged(before=table.state, after=state, by=by))
    if state == State.TABLE_STATE_ENABLED and table.round is None:
        _open_round(draft)
    return draft


def _close(draft: Draft, by: pb.Accountability, shoe: Shoe | None) -> None:
    if draft.table.round is not None:
        _void(draft, pb.VoidCause.VOID_CAUSE_TABLE_CLOSED, by)
    if draft.table.shoe is not None:
        _retire(draft, pb.RetireCause.RETIRE_CAUSE_TABLE_CLOSED, by, shoe)
    draft.add(pb.TableChanged(before=draft.table.state, after=State.TABLE_STATE_CLOSED, by=by))


def void_round(
    around: Surroundings,
    table: TableState,
    cause: pb.VoidCause.ValueType,
    shoe: Shoe | None,
    by: pb.Accountability,
) -> Draft:
    """Cancels the open round. A shoe of several rounds stays, and the next round gets the same cards;
    a one-round shoe is retired and revealed.

    Raises:
        GameError: ROUND_NOT_OPEN.
    """
    if table.round is None:
        raise GameError(Reason.ROUND_NOT_OPEN, "no round is open", metadata={"open_round": ""})
    draft = Draft(around, table)
    _void(draft, cause, by)
    if table.game.shuffle is Shuffle.EVERY_ROUND:
        _retire(draft, pb.RetireCause.RETIRE_CAUSE_ROUND_VOIDED, by, shoe)
    _after_result(draft, shoe)
    return draft


def _void(draft: Draft, cause: pb.VoidCause.ValueType, by: pb.Accountability) -> None:
    table = draft.table
    opened = table.round
    if opened is None:
        return
    draft.add(
        pb.RoundVoided(
            round_number=table.round_number,
            opening_hash=opened.opening_hash,
            cause=cause,
            by=by,
            returned=[
                pb.ReturnedStake(wager_id=wager.wager_id, stake=wager.stake)
                for wager in opened.wagers
            ],
        )
    )


def retire_shoe(
    around: Surroundings,
    table: TableState,
    cause: pb.RetireCause.ValueType,
    void_cause: pb.VoidCause.ValueType,
    shoe: Shoe | None,
    by: pb.Accountability,
) -> Draft:
    """Ends the shoe early and reveals it. Standing wagers are voided in the same append, for a cause.

    Args:
        void_cause: VOID_CAUSE_UNSPECIFIED when no wager may stand.
        shoe: its cards; None when the seed cannot be had, which the record then admits.

    Raises:
        GameError: SHOE_NOT_OPEN or WAGERS_STANDING.
    """
    if table.shoe is None:
        raise GameError(Reason.SHOE_NOT_OPEN, "no shoe is open at this table")
    opened = table.round
    if opened is not None and opened.wagers and not void_cause:
        raise GameError(
            Reason.WAGERS_STANDING,
            f"{len(opened.wagers)} wagers stand on this shoe",
            fields=[("void_cause", "must be given to void them")],
        )
    draft = Draft(around, table)
    _void(draft, void_cause or pb.VoidCause.VOID_CAUSE_SHOE_RETIRED, by)
    _retire(draft, cause, by, shoe)
    _after_result(draft, shoe)
    return draft


def _retire(
    draft: Draft, cause: pb.RetireCause.ValueType, by: pb.Accountability, shoe: Shoe | None
) -> None:
    open_shoe = draft.table.shoe
    if open_shoe is None:
        return
    draft.add(
        pb.ShoeRetired(
            shoe_opening_hash=open_shoe.opening_hash,
            cause=cause,
            by=by,
            closing=pb.ShoeClosing(
                seed=b"" if shoe is None else shoe.seed, cards_dealt=open_shoe.position
            ),
            seed_unavailable=shoe is None,
        )
    )
