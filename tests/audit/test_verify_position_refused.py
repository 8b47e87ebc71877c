"""A position is refused with the log that does not lead on from it, and when it was damaged or made up."""

import io
from collections.abc import Callable
from hashlib import sha256

import pytest

from sealedshoe_audit.errors import Code
from sealedshoe_audit.v1.state_pb2 import VerifierPosition
from sealedshoe_audit.verify.log import LogOptions, verify_log
from tests.audit.forge.log import ForgedLog
from tests.audit.forge.published import MemorySource, errors, publish
from tests.audit.forge.stories import SHORT, play_shoe, table_of
from tests.audit.test_verify_position import positions, story, verified

Change = Callable[[VerifierPosition], object]


def test_a_shorter_log_is_a_rollback() -> None:
    position, register = positions()[30]
    report = verified(story(), 29, position, io.BytesIO(register))
    assert errors(report) == [Code.ROLLBACK]


def test_a_log_with_another_past_is_refused() -> None:
    position, register = positions()[30]
    log = ForgedLog()
    while len(log.entries) < 40:
        log.event()
    assert verified(log).findings == []
    assert errors(verified(log, position=position, seeds=io.BytesIO(register))) == [
        Code.TILE_MISMATCH
    ]


def test_a_log_that_hides_another_past_behind_old_tiles_is_refused() -> None:
    log = story()
    position, register = positions()[30]
    forged = ForgedLog()
    forged.entries = [*log.entries[:20], b"forged", *log.entries[21:]]
    files = publish(forged)
    tile = next(path for path in files if path.startswith("tile/0"))
    files[tile] = publish(log)[tile]
    options = LogOptions(position=position, seeds=io.BytesIO(register))
    report = verify_log(MemorySource(files), log.trust(), log.time_us, lambda *_: None, options)
    assert errors(report) == [Code.ROOT_MISMATCH]


def resealed(position: bytes, change: Change) -> bytes:
    """Returns a position that was changed by somebody who can also hash."""
    message = VerifierPosition.FromString(position[:-32])
    change(message)
    body = message.SerializeToString(deterministic=True)
    return body + sha256(body).digest()


@pytest.mark.parametrize("at", [0, 1, 40, 300, -33, -32, -1])
def test_a_position_with_a_flipped_bit_is_refused(at: int) -> None:
    position = bytearray(positions()[30][0])
    position[at] ^= 1
    assert errors(verified(story(), position=bytes(position))) == [Code.DIGEST_MISMATCH]


@pytest.mark.parametrize("length", [1, 31, 32, 33, -1])
def test_a_position_that_was_cut_is_refused(length: int) -> None:
    assert errors(verified(story(), position=positions()[30][0][:length])) == [Code.DIGEST_MISMATCH]


def drop_games(message: VerifierPosition) -> None:
    """Forgets which games the tables play."""
    message.ClearField("games")


CHANGES: dict[str, tuple[Change, Code]] = {
    "another format": (lambda m: setattr(m, "format", "sealedshoe/v2/position"), Code.FORMAT),
    "another log": (lambda m: setattr(m, "origin", "other"), Code.ORIGIN_MISMATCH),
    "another root key": (lambda m: setattr(m.keys, "root", bytes(32)), Code.ROOT_KEY),
    "an edge of another size": (lambda m: setattr(m, "size", 31), Code.PARSE),
    "a torn edge": (lambda m: setattr(m, "edge", m.edge[:-1]), Code.PARSE),
    "no games": (drop_games, Code.PARSE),
}


@pytest.mark.parametrize(("change", "code"), CHANGES.values(), ids=CHANGES.keys())
def test_a_position_that_cannot_be_is_refused(change: Change, code: Code) -> None:
    position, register = positions()[30]
    report = verified(story(), position=resealed(position, change), seeds=io.BytesIO(register))
    assert errors(report) == [code]


def test_a_position_with_unknown_or_loose_bytes_is_refused() -> None:
    body = positions()[30][0][:-32]
    for put, code in [(b"\xf8\x07\x01", Code.UNKNOWN_FIELD), (b"\x18\x1e", Code.NOT_CANONICAL)]:
        damaged = body + put
        report = verified(story(), position=damaged + sha256(damaged).digest())
        assert errors(report) == [code]


def test_an_edge_that_the_log_does_not_lead_to_is_refused() -> None:
    position, register = positions()[30]
    changed = resealed(position, lambda m: setattr(m, "edge", bytes(len(m.edge))))
    report = verified(story(), position=changed, seeds=io.BytesIO(register))
    assert errors(report) == [Code.TILE_MISMATCH]


@pytest.mark.parametrize("size", [5, 39])
def test_a_seed_of_before_the_position_opens_no_shoe_behind_it(size: int) -> None:
    log = ForgedLog()
    table = table_of(SHORT, log)
    play_shoe(table)
    while len(log.entries) < 39:
        log.event()
    seeds = io.BytesIO()
    position = verified(log, size, seeds=seeds).position
    log.shoes_drawn = 0
    table.open(counter=2)
    report = verified(log, position=position, seeds=seeds)
    assert errors(report) == [Code.DUPLICATE_SEED]
    assert report.findings[-1].record == f"leaf {len(log.entries) - 1}"


def test_a_seed_register_that_was_lost_accuses_nobody_of_a_duplicate() -> None:
    log = story()
    position, register = positions()[39]
    assert len(register) == 2 * 40
    report = verified(log, position=position, seeds=io.BytesIO())
    assert not report.valid
    assert Code.DUPLICATE_SEED not in errors(report)


def test_a_kept_head_before_the_position_is_compared_or_said_not_to_be() -> None:
    log = story()
    position, register = positions()[30]
    forged = ForgedLog()
    forged.entries = [*log.entries[:9], b"forged"]
    report = verified(log, position=position, seeds=io.BytesIO(register), heads=(forged.note(),))
    said = any("head" in text for text in report.not_checked)
    assert said or errors(report) == [Code.SPLIT_VIEW]
