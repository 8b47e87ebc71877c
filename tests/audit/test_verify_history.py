"""Heads that somebody kept are prefixes of the log, or prove that it is not the log they saw."""

import base64
from collections.abc import Iterable

import pytest

from sealedshoe_audit.errors import Code
from sealedshoe_audit.log.note import VerifierKey, cosignature_line
from sealedshoe_audit.trust import Trust
from sealedshoe_audit.verify.history import HeadHistory
from sealedshoe_audit.verify.log import LogOptions, LogReport, verify_log
from tests.audit.forge.log import ForgedLog, key, public, sign_head, sign_root
from tests.audit.forge.published import MemorySource, errors, notices, publish
from tests.audit.forge.tree import root_of

WITNESS = VerifierKey("w.example", 4, public(key(20)))


def log_of(size: int) -> ForgedLog:
    """Returns a log of events."""
    log = ForgedLog()
    while len(log.entries) < size:
        log.event()
    return log


LOG = log_of(300)


def cosigned(note: bytes) -> bytes:
    """Returns a head with the witness's line."""
    text = note.split(b"\n\n")[0].decode() + "\n"
    return note + cosignature_line(text, WITNESS.name, key(20), 1_767_225_600).encode()


def asking() -> Trust:
    """Returns the trust of a reader who asks for the witness."""
    plain = LOG.trust()
    return Trust(plain.origin, plain.root_key, plain.checkpoint_keys, (WITNESS,), 1)


def check(heads: Iterable[bytes], trust: Trust | None = None, size: int = 300) -> LogReport:
    """Verifies the log at a size against kept heads."""
    log = ForgedLog()
    log.entries = LOG.entries[:size]
    files = publish(log)
    files["checkpoint"] = cosigned(files["checkpoint"])
    given = LogOptions(heads=heads)
    source = MemorySource(files)
    return verify_log(source, trust or LOG.trust(), LOG.time_us, lambda *_: None, given)


def forked(size: int) -> bytes:
    """Returns a head of another history, by the log's own key."""
    return sign_head([bytes(32), *LOG.leaves[1:size]], LOG.origin, LOG.checkpoint_key)


def test_every_older_head_is_compared() -> None:
    sizes = [0, 1, 2, 127, 255, 256, 257, 299, 300]
    report = check(map(LOG.note, sizes))
    assert report.findings == []
    assert report.facts["older_heads"] == len(sizes)
    assert any(text.startswith("9 older heads") for text in report.checked)


def test_one_head_kept_many_times_is_one() -> None:
    assert check([LOG.note(5)] * 4).facts["older_heads"] == 1


@pytest.mark.parametrize("size", [1, 5, 256, 300])
def test_a_head_of_another_history_is_a_split_view(size: int) -> None:
    report = check([LOG.note(size), forked(size), LOG.note(7)])
    assert errors(report) == [Code.SPLIT_VIEW]
    kept = report.findings[0]
    assert kept.record == f"head of size {size}"
    assert kept.expected == root_of([bytes(32), *LOG.leaves[1:size]]).hex()
    assert kept.found == root_of(LOG.leaves[:size]).hex()


def test_an_empty_log_had_the_empty_root() -> None:
    empty = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    assert errors(check([sign_root(base64.b64decode(empty), 0, LOG.origin, key(3))])) == []


def test_every_contradicting_head_of_one_size_is_told() -> None:
    other = sign_root(bytes(32), 9, LOG.origin, key(3))
    report = check([forked(9), other, forked(8)])
    assert errors(report) == [Code.SPLIT_VIEW] * 3


@pytest.mark.parametrize("kept", [256, 299, 300])
def test_a_kept_head_that_is_larger_than_the_log_is_a_rollback(kept: int) -> None:
    report = check([LOG.note(kept)], size=255)
    assert errors(report) == [Code.ROLLBACK]
    assert report.findings[0].expected == f"a log of {kept} leaves"
    assert report.findings[0].found == "255 leaves"


def test_a_merely_signed_head_may_lie_beyond_where_a_quorum_is_asked_for() -> None:
    assert notices(check([LOG.note(299)], asking(), 255)) == [Code.ROLLBACK]
    assert errors(check([LOG.note(299)], asking(), 255)) == []


def test_a_cosigned_head_that_lies_beyond_is_a_rollback() -> None:
    heads = [LOG.note(299), cosigned(LOG.note(270)), LOG.note(256)]
    report = check(heads, asking(), 255)
    assert errors(report) == [Code.ROLLBACK, Code.ROLLBACK]  # 256 lies before the cosigned one
    assert notices(report) == [Code.ROLLBACK]


def test_heads_without_a_quorums_cosignatures_are_compared_all_the_same() -> None:
    assert errors(check([forked(7)], asking())) == [Code.SPLIT_VIEW]


def unproved() -> dict[str, tuple[bytes, Code]]:
    """Heads that are not the log's, and prove nothing about it."""
    note = LOG.note(9)
    return {
        "a stranger's": (sign_head(LOG.leaves[:9], LOG.origin, key(33)), Code.NOTE_SIGNATURE),
        "another log's": (sign_head(LOG.leaves[:9], "other", key(3)), Code.ORIGIN_MISMATCH),
        "changed": (note.replace(b"\n9\n", b"\n8\n"), Code.NOTE_SIGNATURE),
        "torn": (note[:-5], Code.PARSE),
        "nothing": (b"", Code.PARSE),
    }


@pytest.mark.parametrize(("head", "code"), unproved().values(), ids=unproved().keys())
def test_a_head_that_the_log_did_not_sign_proves_nothing_and_is_refused(
    head: bytes, code: Code
) -> None:
    assert errors(check([LOG.note(5), head])) == [code]


def test_a_size_is_wanted_until_it_was_compared() -> None:
    history = HeadHistory(LOG.trust(), [LOG.note(5)])
    assert [size for size in range(10) if history.wants(size)] == [5]
    assert list(history.compare(5, root_of(LOG.leaves[:5]), None)) == []
    assert history.compared == 1
    assert not history.wants(5)


def test_heads_of_both_checkpoint_keys_are_compared_around_a_rotation() -> None:
    log = ForgedLog()
    log.event()
    before = log.note()
    old = log.trust().checkpoint_keys
    log.change_key(8, 2)
    log.event()
    both = Trust(log.origin, public(log.root), (*old, *log.trust().checkpoint_keys))
    given = LogOptions(heads=[before, log.note()])
    report = verify_log(MemorySource(publish(log)), both, log.time_us, lambda *_: None, given)
    assert report.findings == []
    assert report.facts["older_heads"] == 2
