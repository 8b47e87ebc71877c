"""Records that are no table's: headers, games, events, time stamps, and what a recovered log inherits."""

from sealedshoe_audit.baccarat.definition import GameDefinition, check_definition
from sealedshoe_audit.definition_record import odds_messages, read_definition
from sealedshoe_audit.errors import Code, DefinitionError, VerificationError
from sealedshoe_audit.fold.reveal import check_reveal
from sealedshoe_audit.log.checkpoint import Checkpoint, is_origin, parse_checkpoint
from sealedshoe_audit.log.merkle import HASH_BYTES
from sealedshoe_audit.log.note import MAX_NOTE_BYTES, parse_note
from sealedshoe_audit.records import (
    MAX_ID_BYTES,
    MAX_WAGERS,
    VERSION,
    check_accountability,
    check_text,
)
from sealedshoe_audit.signing import KEY_BYTES
from sealedshoe_audit.v1 import records_pb2 as pb

MAX_TOKEN_BYTES = 32 * 1024  # a time stamp with its chain of certificates is a few KiB


def check_header(header: pb.Header, origin: str) -> None:
    """Checks version, origin and time of a record.

    Raises:
        VerificationError: RECORD_VERSION, RECORD_ORIGIN or RECORD_TIME.
    """
    if header.version != VERSION:
        raise VerificationError(
            Code.RECORD_VERSION, expected=str(VERSION), found=str(header.version)
        )
    if header.origin != origin:
        raise VerificationError(Code.RECORD_ORIGIN, expected=origin, found=header.origin[:200])
    if header.time_us <= 0:
        raise VerificationError(Code.RECORD_TIME, expected="a time", found=str(header.time_us))


def check_game(record: pb.GameInstalled) -> GameDefinition:
    """Checks a recorded definition and works its odds out again.

    Raises:
        VerificationError: GAME_DEFINITION, ODDS_MISMATCH or RECORD_LIMITS.
    """
    check_accountability(record.by)
    try:
        game = read_definition(record.definition)
        check_definition(game)
    except DefinitionError as error:
        raise VerificationError(
            Code.GAME_DEFINITION, expected="a sound definition", found=str(error)[:300]
        ) from error
    if list(record.odds) != odds_messages(game):
        raise VerificationError(
            Code.ODDS_MISMATCH, expected=f"the exact odds of {game.game_id}", found="others"
        )
    return game


def check_table_id(table: str) -> None:
    """Checks the last segment of a table's name.

    Raises:
        VerificationError: RECORD_LIMITS.
    """
    if not 1 <= len(table) <= 40 or any(c not in _ID_CHARACTERS for c in table):
        raise VerificationError(
            Code.RECORD_LIMITS, expected="a table id [a-z0-9-]{1,40}", found=table[:40]
        )


_ID_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")


def check_event(record: pb.EventRecorded) -> None:
    """Checks an event's class and texts.

    Raises:
        VerificationError: RECORD_LIMITS.
    """
    check_accountability(record.by)
    if record.event_class == 0 or record.event_class not in pb.EventClass.values():
        raise VerificationError(
            Code.RECORD_LIMITS, expected="a listed event class", found=str(record.event_class)
        )
    check_text(record.component, MAX_ID_BYTES, "component", least=1)
    check_text(record.before, MAX_ID_BYTES, "before")
    check_text(record.after, MAX_ID_BYTES, "after")


def check_log_closed(record: pb.LogClosed) -> None:
    """Checks who closed a log, and the successor that it names.

    Raises:
        VerificationError: RECORD_LIMITS.
    """
    check_accountability(record.by)
    named = bool(record.successor_origin)
    sound = is_origin(record.successor_origin) if named else True
    if not sound or len(record.successor_root_key) not in (0, KEY_BYTES):
        raise VerificationError(
            Code.RECORD_LIMITS, expected="an origin and a root key", found="another successor"
        )


def stamped_head(record: pb.TimeStamped, origin: str) -> Checkpoint:
    """Returns the head that a time stamp is about; token and signatures are for who trusts their keys.

    Raises:
        VerificationError: TIME_STAMP.
    """
    sizes = len(record.checkpoint) <= MAX_NOTE_BYTES and len(record.response) <= MAX_TOKEN_BYTES
    try:
        head = parse_checkpoint(parse_note(record.checkpoint).text)
    except VerificationError as error:
        raise _bad_stamp("a signed checkpoint") from error
    if head.origin != origin or not sizes or not record.response:
        raise _bad_stamp("a checkpoint of this log and a time stamp over it")
    return head


def _bad_stamp(expected: str) -> VerificationError:
    return VerificationError(Code.TIME_STAMP, expected=expected, found="another")


def check_inherited_shoe(record: pb.PredecessorShoeRevealed, predecessor: str) -> None:
    """Checks a shoe that was open in the log before: its own commitments against its revealed seed.

    That it is the predecessor's shoe is checked with both logs at hand (`verify.handover`).

    Raises:
        VerificationError: PREDECESSOR, SHOE_STATE, SEED_COMMITMENT or CARDS_ROOT.
    """
    check_table_id(record.table)
    opening, closing = record.opening, record.closing
    sound = (
        len(record.shoe_opening_hash) == HASH_BYTES
        and 1 <= opening.cards // 52 <= 8
        and opening.cards % 52 == 0
        and opening.reach in (6, opening.cards)
        and closing.cards_dealt <= opening.reach
        and len(record.returned) <= MAX_WAGERS
        and (record.round_number > 0 or not record.returned)
    )
    if not sound:
        raise VerificationError(
            Code.PREDECESSOR, expected="a predecessor's open shoe", found=record.table
        )
    if record.seed_unavailable == bool(closing.seed):
        raise VerificationError(
            Code.SHOE_STATE, expected="a seed, or its loss admitted", found="both or neither"
        )
    if not record.seed_unavailable:
        check_reveal(predecessor, record.table, opening, closing.seed, ())
