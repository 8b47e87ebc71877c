"""How each record of a table changes its state. Pure: state and record in, state out, or an error.

What this file cannot see is checked elsewhere: signatures and the log's order in `fold.log`, revealed
seeds in `fold.reveal`, per-player limits by the server alone (players' names never enter the log).
"""

from typing import TypedDict

from sealedshoe_audit.baccarat.definition import GameDefinition, Shuffle, check_table_limits
from sealedshoe_audit.currencies import CURRENCY_DIGITS
from sealedshoe_audit.definition_record import read_limits
from sealedshoe_audit.errors import Code, DefinitionError, VerificationError
from sealedshoe_audit.fold.result import check_result
from sealedshoe_audit.fold.state import OpenRound, OpenShoe, TableState
from sealedshoe_audit.fold.wagers import check_new_wagers
from sealedshoe_audit.log.merkle import HASH_BYTES
from sealedshoe_audit.records import MAX_ID_BYTES, TableRecord, check_accountability, check_text
from sealedshoe_audit.v1 import records_pb2 as pb

State = pb.TableState
_TRANSITIONS = {
    State.TABLE_STATE_ENABLED: {
        State.TABLE_STATE_SUSPENDED,
        State.TABLE_STATE_DRAINING,
        State.TABLE_STATE_CLOSED,
    },
    State.TABLE_STATE_SUSPENDED: {
        State.TABLE_STATE_ENABLED,
        State.TABLE_STATE_DRAINING,
        State.TABLE_STATE_CLOSED,
    },
    State.TABLE_STATE_DRAINING: {
        State.TABLE_STATE_ENABLED,
        State.TABLE_STATE_SUSPENDED,
        State.TABLE_STATE_CLOSED,
    },
    State.TABLE_STATE_CLOSED: set[pb.TableState.ValueType](),
}


class _Changes(TypedDict, total=False):
    """What a record changes of its table, besides sequence, hash and time."""

    state: pb.TableState.ValueType
    round: OpenRound | None
    shoe: OpenShoe | None
    round_number: int
    shoe_number: int
    dealt_us: int


_ENABLED = State.TABLE_STATE_ENABLED  # a look-up by name costs a microsecond
PLAYABLE = (State.TABLE_STATE_ENABLED, State.TABLE_STATE_DRAINING)


def may_change(before: pb.TableState.ValueType, after: pb.TableState.ValueType) -> bool:
    """Whether a table in one state may go to the other."""
    return after in _TRANSITIONS[before]


def create(record: pb.TableChanged, leaf: bytes, game: GameDefinition) -> TableState:
    """Returns the state after a table's first record.

    Args:
        leaf: leaf hash of the record.
        game: the installed version that the settings name.

    Raises:
        VerificationError: TABLE_SETTINGS, CHAIN, SEQUENCE_GAP, TABLE_STATE or RECORD_LIMITS.
    """
    if record.link.sequence != 1 or record.link.previous_hash:
        raise VerificationError(
            Code.CHAIN,
            expected="sequence 1 and no previous record",
            found=str(record.link.sequence),
        )
    if record.before != 0 or record.after != State.TABLE_STATE_ENABLED:
        raise VerificationError(
            Code.TABLE_STATE, expected="a new table, enabled", found=str(record.after)
        )
    check_accountability(record.by)
    check_settings(record.settings, game)
    return TableState(
        table=record.link.table,
        settings=record.settings,
        game=game,
        state=record.after,
        sequence=1,
        last_hash=leaf,
        time_us=record.header.time_us,
    )


def check_settings(settings: pb.TableSettings, game: GameDefinition) -> None:
    """Checks a table's settings against its game.

    Raises:
        VerificationError: TABLE_SETTINGS or RECORD_LIMITS.
    """
    digits = CURRENCY_DIGITS.get(settings.limits.currency)
    if digits is None or settings.currency_digits != digits:
        found = f"{settings.limits.currency} with {settings.currency_digits} digits"
        raise VerificationError(Code.TABLE_SETTINGS, expected="an ISO 4217 currency", found=found)
    check_text(settings.dealer, MAX_ID_BYTES, "dealer")
    try:
        check_table_limits(game, read_limits(settings.limits), digits)
    except DefinitionError as error:
        raise VerificationError(
            Code.TABLE_SETTINGS, expected="limits inside the game's", found=str(error)
        ) from error


def evolve(table: TableState, record: TableRecord, leaf: bytes) -> TableState:
    """Returns the state after one more record of the table.

    Args:
        leaf: leaf hash of the record's envelope, 32 bytes.

    Raises:
        VerificationError: the record may not stand here; the code says why.
    """
    _check_link(table, record)
    match record:
        case pb.RoundDealt():
            changes = _dealt(table, record)
        case pb.RoundOpened():
            changes = _opened(table, record, leaf)
        case pb.WagersAccepted():
            changes = _accepted(table, record)
        case pb.TableChanged():
            changes = _changed(table, record)
        case pb.RoundVoided():
            changes = _voided(table, record)
        case pb.ShoeRetired():
            changes = _retired(table, record)
    return TableState(
        table.table,
        table.settings,
        table.game,
        changes.get("state", table.state),
        table.sequence + 1,
        leaf,
        record.header.time_us,
        changes.get("round_number", table.round_number),
        changes.get("shoe_number", table.shoe_number),
        changes.get("dealt_us", table.dealt_us),
        changes.get("round", table.round),
        changes.get("shoe", table.shoe),
    )


def _check_link(table: TableState, record: TableRecord) -> None:
    link = record.link
    if link.sequence != table.sequence + 1:
        raise VerificationError(
            Code.SEQUENCE_GAP, expected=str(table.sequence + 1), found=str(link.sequence)
        )
    if link.previous_hash != table.last_hash:
        raise VerificationError(
            Code.CHAIN, expected=table.last_hash.hex(), found=link.previous_hash.hex()
        )
    if record.header.time_us < table.time_us:
        raise VerificationError(
            Code.RECORD_TIME, expected=f"{table.time_us} or later", found=str(record.header.time_us)
        )


def _changed(table: TableState, record: pb.TableChanged) -> _Changes:
    check_accountability(record.by)
    if record.before != table.state or not may_change(table.state, record.after):
        raise VerificationError(
            Code.TABLE_STATE,
            expected=f"a change from {State.Name(table.state)}",
            found=f"{record.before} to {record.after}",
        )
    if record.HasField("settings"):
        raise VerificationError(
            Code.TABLE_SETTINGS, expected="settings for life", found="new settings"
        )
    closes = record.after == State.TABLE_STATE_CLOSED
    if closes and (table.round is not None or table.shoe is not None):
        raise VerificationError(
            Code.TABLE_STATE, expected="no open round or shoe", found="a table closed over one"
        )
    return {"state": record.after}


def _opened(table: TableState, record: pb.RoundOpened, leaf: bytes) -> _Changes:
    if table.state != _ENABLED:
        raise VerificationError(
            Code.TABLE_STATE, expected="an enabled table", found=State.Name(table.state)
        )
    if table.round is not None:
        raise VerificationError(Code.ROUND_STATE, expected="no open round", found="an open round")
    if record.round_number != table.round_number + 1:
        raise VerificationError(
            Code.ROUND_NUMBER, expected=str(table.round_number + 1), found=str(record.round_number)
        )
    if len(record.cosigned_head_hash) not in (0, HASH_BYTES):
        raise VerificationError(
            Code.HEAD_MISMATCH,
            expected="a hash or none",
            found=record.cosigned_head_hash[:40].hex(),
        )
    shoe = _new_shoe(table, record, leaf) if record.HasField("shoe") else _same_shoe(table, record)
    if record.first_position != shoe.position:
        raise VerificationError(
            Code.SHOE_STATE, expected=f"position {shoe.position}", found=str(record.first_position)
        )
    opened = OpenRound(leaf, record.header.time_us, record.first_position, ())
    return {
        "round": opened,
        "shoe": shoe,
        "round_number": record.round_number,
        "shoe_number": shoe.opening.shoe_number,
    }


def _same_shoe(table: TableState, record: pb.RoundOpened) -> OpenShoe:
    shoe = table.shoe
    if shoe is None or shoe.rounds_left == 0 or table.game.shuffle is Shuffle.EVERY_ROUND:
        raise VerificationError(Code.SHOE_STATE, expected="a new shoe", found="no shoe opening")
    if record.shoe_opening_hash != shoe.opening_hash:
        raise VerificationError(
            Code.SHOE_OPENING,
            expected=shoe.opening_hash.hex(),
            found=record.shoe_opening_hash.hex(),
        )
    return shoe


def check_seed_or_loss(record: pb.ShoeRetired) -> None:
    """A retired shoe is revealed, or its seed's loss admitted.

    Raises:
        VerificationError: SHOE_STATE.
    """
    if record.seed_unavailable == bool(record.closing.seed):
        raise VerificationError(
            Code.SHOE_STATE, expected="a seed, or its loss admitted", found="both or neither"
        )


def _new_shoe(table: TableState, record: pb.RoundOpened, leaf: bytes) -> OpenShoe:
    if table.shoe is not None:
        raise VerificationError(Code.SHOE_STATE, expected="the open shoe", found="a new shoe")
    check_shoe_opening(record, table.game, table.shoe_number + 1)
    return OpenShoe(record.shoe, leaf, 0, None, 0)


def check_shoe_opening(record: pb.RoundOpened, game: GameDefinition, shoe_number: int) -> None:
    """Checks a shoe's opening against its game.

    Raises:
        VerificationError: SHOE_OPENING or RECORD_LIMITS.
    """
    opening = record.shoe
    expected = (shoe_number, game.game_id, game.version, game.cards, game.reach, b"")
    found = (
        opening.shoe_number,
        opening.game_id,
        opening.game_version,
        opening.cards,
        opening.reach,
        record.shoe_opening_hash,
    )
    if found != expected:
        raise VerificationError(Code.SHOE_OPENING, expected=str(expected), found=str(found))
    hashes = (opening.seed_commitment, opening.cards_root, opening.sealed_seed_digest)
    sizes = [len(value) for value in (*hashes, opening.rng_instance)]
    if sizes != [HASH_BYTES] * 3 + [16] or opening.shoe_counter == 0:
        raise VerificationError(
            Code.SHOE_OPENING, expected="commitments of full length", found=str(sizes)
        )
    check_text(opening.sealing_key_id, MAX_ID_BYTES, "sealing_key_id", least=1)


def _open_round(table: TableState, opening_hash: bytes) -> OpenRound:
    if table.round is None:
        raise VerificationError(Code.ROUND_STATE, expected="an open round", found="none")
    if opening_hash != table.round.opening_hash:
        raise VerificationError(
            Code.OPENING_MISMATCH, expected=table.round.opening_hash.hex(), found=opening_hash.hex()
        )
    return table.round


def _check_playable(table: TableState) -> None:
    if table.state not in PLAYABLE:
        raise VerificationError(
            Code.TABLE_STATE, expected="a table that plays", found=State.Name(table.state)
        )


def _accepted(table: TableState, record: pb.WagersAccepted) -> _Changes:
    _check_playable(table)
    opened = _open_round(table, record.opening_hash)
    if not record.wagers:
        raise VerificationError(Code.WAGER, expected="at least one wager", found="none")
    check_new_wagers(table, opened.wagers, record.wagers)
    wagers = (*opened.wagers, *record.wagers)
    return {"round": opened._replace(wagers=wagers)}


def _dealt(table: TableState, record: pb.RoundDealt) -> _Changes:
    _check_playable(table)
    opened = _open_round(table, record.opening_hash)
    shoe = table.shoe
    if shoe is None or record.round_number != table.round_number:
        raise VerificationError(
            Code.ROUND_NUMBER, expected=str(table.round_number), found=str(record.round_number)
        )
    _check_deal_time(table, opened, record.header.time_us)
    check_result(table, opened, record)
    free = shoe.free_rounds_used + (not record.settlements)
    if free > table.game.free_rounds:
        raise VerificationError(
            Code.WAGER, expected="a wager", found=f"free round {free} of the shoe"
        )
    end = opened.first_position + len(record.cards)
    left = table.game.rounds_left_after(opened.first_position, end, shoe.rounds_left)
    after = OpenShoe(shoe.opening, shoe.opening_hash, end, left, free)
    if record.HasField("closing") != (left == 0):
        raise VerificationError(
            Code.SHOE_STATE, expected="a reveal with the shoe's last round", found="another round"
        )
    if left == 0:
        check_cards_dealt(after, record.closing)
    dealt_us = record.header.time_us
    return {"round": None, "shoe": None if left == 0 else after, "dealt_us": dealt_us}


def _check_deal_time(table: TableState, opened: OpenRound, time_us: int) -> None:
    earliest = earliest_deal_us(table, opened)
    if time_us < earliest:
        raise VerificationError(Code.DEAL, expected=f"not before {earliest}", found=str(time_us))


def earliest_deal_us(table: TableState, opened: OpenRound) -> int:
    """Returns the time from which the open round may be dealt: window and interval have passed."""
    window = opened.opened_us + 1000 * table.settings.betting_window_ms
    interval = table.dealt_us + 1000 * table.game.round_interval_ms if table.dealt_us else 0
    return max(window if table.settings.betting_window_ms else 0, interval)


def check_cards_dealt(shoe: OpenShoe, closing: pb.ShoeClosing) -> None:
    """Checks the number of cards that a closing states.

    Raises:
        VerificationError: SHOE_STATE.
    """
    if closing.cards_dealt != shoe.position:
        raise VerificationError(
            Code.SHOE_STATE, expected=f"{shoe.position} cards dealt", found=str(closing.cards_dealt)
        )


def _voided(table: TableState, record: pb.RoundVoided) -> _Changes:
    check_accountability(record.by)
    opened = _open_round(table, record.opening_hash)
    if record.round_number != table.round_number:
        raise VerificationError(
            Code.ROUND_NUMBER, expected=str(table.round_number), found=str(record.round_number)
        )
    if record.cause not in pb.VoidCause.values() or record.cause == 0:
        raise VerificationError(Code.VOID, expected="a listed cause", found=str(record.cause))
    expected = [(wager.wager_id, wager.stake) for wager in opened.wagers]
    found = [(returned.wager_id, returned.stake) for returned in record.returned]
    if expected != found:
        raise VerificationError(Code.VOID, expected="every stake returned", found=str(len(found)))
    return {"round": None}


def _retired(table: TableState, record: pb.ShoeRetired) -> _Changes:
    check_accountability(record.by)
    shoe = table.shoe
    if shoe is None or record.shoe_opening_hash != shoe.opening_hash:
        raise VerificationError(
            Code.SHOE_STATE, expected="the open shoe", found=record.shoe_opening_hash.hex()
        )
    if table.round is not None:
        raise VerificationError(Code.ROUND_STATE, expected="no open round", found="an open round")
    if record.cause not in pb.RetireCause.values() or record.cause == 0:
        raise VerificationError(Code.SHOE_STATE, expected="a listed cause", found=str(record.cause))
    check_seed_or_loss(record)
    check_cards_dealt(shoe, record.closing)
    return {"shoe": None}
