"""Times from outside hold the times that records claim: a stamp over a head, a head named by a record."""

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.note import VerifierKey, cosignature_line
from sealedshoe_audit.trust import Trust
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.verify.log import LogOptions, LogReport, verify_log
from tests.audit.forge.log import ForgedLog, key, public, sign_head, sign_root
from tests.audit.forge.published import MemorySource, errors, publish
from tests.audit.forge.stories import ONE_ROUND, table_of
from tests.audit.forge.table import ForgedTable, wager

MINUTE_US = 60_000_000
WITNESS = VerifierKey("w.example", 4, public(key(20)))
Change = Callable[[pb.TimeStamped], object]


def stamped_by_nobody(message: bytes, time_us: int) -> bytes:
    """Returns a stand-in for a time stamp: time and hash, without anybody's signature."""
    return time_us.to_bytes(8, "big") + sha256(message).digest()


def stand_in_check(response: bytes, message: bytes) -> int:
    """Returns a stand-in's time."""
    if response[8:] != sha256(message).digest():
        raise VerificationError(Code.TIME_STAMP)
    return int.from_bytes(response[:8], "big")


def cosigned(note: bytes, time_s: int) -> bytes:
    """Returns a head with the witness's line."""
    text = note.split(b"\n\n")[0].decode() + "\n"
    return note + cosignature_line(text, WITNESS.name, key(20), time_s).encode()


def add_stamp(
    log: ForgedLog,
    note: bytes | None = None,
    time_us: int | None = None,
    change: Change | None = None,
) -> None:
    """Adds a stamp over a head; by default over the newest, at the record's own time."""
    note = log.note() if note is None else note
    header = log.header()
    response = stamped_by_nobody(note, header.time_us if time_us is None else time_us)
    record = pb.TimeStamped(header=header, checkpoint=note, response=response)
    if change is not None:
        change(record)
    log.append(record)


def verified(log: ForgedLog, trust: Trust | None = None, *, checked: bool = True) -> LogReport:
    """Verifies a log and its stand-in stamps."""
    options = LogOptions(check_stamp=stand_in_check if checked else None)
    files = publish(log)
    files["checkpoint"] = cosigned(files["checkpoint"], 1)
    source = MemorySource(files)
    return verify_log(source, trust or log.trust(), log.time_us, lambda *_: None, options)


def asking(log: ForgedLog) -> Trust:
    """Returns the trust of a reader who asks for the witness."""
    plain = log.trust()
    return Trust(plain.origin, plain.root_key, plain.checkpoint_keys, (WITNESS,), 1)


def test_stamps_over_heads_are_checked_and_listed() -> None:
    log = ForgedLog()
    add_stamp(log)
    log.event()
    first = log.time_us - 1_000_000
    add_stamp(log, time_us=first)
    report = verified(log)
    assert report.findings == []
    assert report.facts["time_stamps"] == [
        {"authority": "RFC 3161", "time_us": first, "size": 1},
        {"authority": "RFC 3161", "time_us": first, "size": 3},
    ]
    assert "2 time stamps over heads of this log" in report.checked


def test_the_newest_hundred_stamps_are_listed_and_all_are_counted() -> None:
    log = ForgedLog()
    for _ in range(103):
        add_stamp(log)
    report = verified(log)
    assert report.findings == []
    assert [stamp["size"] for stamp in report.facts["time_stamps"]] == list(range(4, 104))
    assert "103 time stamps over heads of this log" in report.checked


def test_stamps_that_nobody_checks_are_said_to_be_unchecked() -> None:
    log = ForgedLog()
    add_stamp(log, change=lambda r: setattr(r, "response", b"anything"))
    report = verified(log, checked=False)
    assert report.findings == []
    assert report.facts["time_stamps"] == []
    assert any(text.startswith("1 time stamps") for text in report.not_checked)


def test_a_log_without_stamps_says_nothing_of_them() -> None:
    report = verified(ForgedLog())
    assert not any("time stamps" in text for text in [*report.checked, *report.not_checked])


STRANGE = ForgedLog(origin="log.example/other")
HEADS: dict[str, tuple[Callable[[ForgedLog], bytes], Code]] = {
    "of another log": (lambda _: STRANGE.note(), Code.TIME_STAMP),
    "that is no note": (lambda _: b"a head\n", Code.TIME_STAMP),
    "that is empty": (lambda _: b"", Code.TIME_STAMP),
    "that is torn": (lambda log: log.note()[:-3], Code.TIME_STAMP),
    "with another root": (
        lambda log: sign_root(bytes(32), 2, log.origin, key(3)),
        Code.HEAD_MISMATCH,
    ),
    "of another history": (
        lambda log: sign_head([bytes(32), log.leaves[1]], log.origin, key(3)),
        Code.HEAD_MISMATCH,
    ),
    "of a size to come": (
        lambda log: sign_head([*log.leaves, bytes(32)], log.origin, key(3)),
        Code.HEAD_MISMATCH,
    ),
    "by a stranger": (
        lambda log: sign_head(log.leaves, log.origin, key(33)),
        Code.NOTE_SIGNATURE,
    ),
}


@pytest.mark.parametrize(("head", "code"), HEADS.values(), ids=HEADS.keys())
def test_a_stamp_over_a_head_that_is_not_the_logs_is_refused(
    head: Callable[[ForgedLog], bytes], code: Code
) -> None:
    log = ForgedLog()
    log.event()
    add_stamp(log, head(log))
    assert errors(verified(log)) == [code]


STAMPS: dict[str, Change] = {
    "no stamp": lambda r: r.ClearField("response"),
    "a stamp that is too long": lambda r: setattr(r, "response", bytes(32 * 1024 + 1)),
    "a stamp of another head": lambda r: setattr(
        r, "response", stamped_by_nobody(b"another", r.header.time_us)
    ),
}


@pytest.mark.parametrize("change", STAMPS.values(), ids=STAMPS.keys())
def test_a_record_without_a_stamp_over_its_head_is_refused(change: Change) -> None:
    log = ForgedLog()
    add_stamp(log, change=change)
    assert errors(verified(log)) == [Code.TIME_STAMP]


def test_stamps_go_on_in_the_order_of_time() -> None:
    log = ForgedLog()
    add_stamp(log, time_us=log.time_us)
    add_stamp(log, time_us=log.time_us - 1_000_000)
    assert verified(log).findings == []
    add_stamp(log, time_us=log.time_us - 2_000_001)
    assert errors(verified(log)) == [Code.TIME_STAMP]


@pytest.mark.parametrize(("ahead_us", "codes"), [(0, []), (1, [Code.RECORD_TIME])])
def test_a_record_is_not_a_minute_older_than_the_stamp_that_it_holds(
    ahead_us: int, codes: list[Code]
) -> None:
    log = ForgedLog()
    add_stamp(log, time_us=log.time_us + 1_000_000 + MINUTE_US + ahead_us)
    assert errors(verified(log)) == codes


def test_a_record_below_a_stamped_head_is_not_younger_than_the_stamp() -> None:
    log = ForgedLog()
    start = log.time_us
    log.time_us += 60 * MINUTE_US
    log.event()
    log.time_us = start
    add_stamp(log)
    assert errors(verified(log)) == [Code.RECORD_TIME]


class Bracketed:
    """A log with a stamped cosigned head, and a round whose opening names a head."""

    def __init__(self, named: bytes | None = None, time_s: int = 1_767_225_700) -> None:
        self.log = ForgedLog(self.name)
        self.named = b""
        self.table: ForgedTable = table_of(ONE_ROUND, self.log)
        self.head = cosigned(self.log.note(), time_s)
        add_stamp(self.log, self.head)
        self.named = sha256(self.head).digest() if named is None else named

    def name(self, record: Any) -> None:
        """Names the cosigned head in every opening."""
        if isinstance(record, pb.RoundOpened):
            record.cosigned_head_hash = self.named

    def open_at(self, time_us: int) -> LogReport:
        """Opens and deals a round at a time, and verifies the log."""
        self.log.time_us = time_us - 1_000_000
        self.table.open()
        self.table.deal(wager("a", "player", 100))
        return verified(self.log, asking(self.log))


COSIGNED_US = 1_767_225_700_000_000


@pytest.mark.parametrize("late_us", [-MINUTE_US, 0, MINUTE_US])
def test_an_opening_is_younger_than_the_cosigned_head_that_it_names(late_us: int) -> None:
    report = Bracketed().open_at(COSIGNED_US + late_us)
    assert report.findings == []
    assert report.facts["openings_after_a_cosigned_head"] == 1
    assert "1 openings are younger than the cosigned head they name" in report.checked


def test_an_opening_that_claims_to_be_older_than_the_head_that_it_names_is_refused() -> None:
    report = Bracketed().open_at(COSIGNED_US - MINUTE_US - 1)
    assert errors(report) == [Code.RECORD_TIME]
    assert report.findings[0].record == "leaf 4 of tables/7"


def test_an_opening_that_names_no_known_head_is_not_bracketed() -> None:
    for named in (b"", bytes(32), sha256(ForgedLog().note()).digest()):
        report = Bracketed(named).open_at(COSIGNED_US - MINUTE_US - 1)
        assert report.findings == []
        assert report.facts["openings_after_a_cosigned_head"] == 0


def test_a_head_without_cosignatures_says_no_time() -> None:
    story = Bracketed()
    bare = story.log.note()
    story.named = sha256(bare).digest()
    add_stamp(story.log, bare)
    story.log.time_us = COSIGNED_US - MINUTE_US - 1
    story.table.open()
    report = verified(story.log)
    assert errors(report) == []
    assert report.facts["openings_after_a_cosigned_head"] == 0


def test_a_head_with_a_forged_cosignature_is_refused() -> None:
    log = ForgedLog()
    log.event()
    line_of_another = cosigned(log.note(1), 5).split(b"\n")[-2] + b"\n"
    add_stamp(log, log.note() + line_of_another)
    assert errors(verified(log, asking(log))) == [Code.NOTE_SIGNATURE]


def test_an_opening_is_held_to_a_head_that_was_stamped_before_the_position() -> None:
    story = Bracketed()
    trust = asking(story.log)
    position = verified(story.log, trust).position
    assert position
    assert errors(story.open_at(COSIGNED_US - MINUTE_US - 1)) == [Code.RECORD_TIME]
    files = publish(story.log)
    files["checkpoint"] = cosigned(files["checkpoint"], 1)
    options = LogOptions(check_stamp=stand_in_check, position=position)
    now_us = story.log.time_us
    report = verify_log(MemorySource(files), trust, now_us, lambda *_: None, options)
    assert errors(report) == [Code.RECORD_TIME]


def going_on(log: ForgedLog, position: bytes) -> list[Code]:
    """Errors in what stands behind the position that an auditor reached."""
    assert position
    options = LogOptions(check_stamp=stand_in_check, position=position)
    source = MemorySource(publish(log))
    return errors(verify_log(source, log.trust(), log.time_us, lambda *_: None, options))


def test_stamps_behind_a_position_go_on_in_the_order_of_time() -> None:
    log = ForgedLog()
    add_stamp(log)
    position = verified(log).position
    add_stamp(log, time_us=log.time_us - 10_000_000)
    assert going_on(log, position) == [Code.TIME_STAMP]


def test_records_below_a_position_are_held_to_a_stamp_behind_it() -> None:
    log = ForgedLog()
    start = log.time_us
    log.time_us += 60 * MINUTE_US
    log.event()
    log.time_us = start
    position = verified(log).position
    add_stamp(log)
    assert going_on(log, position) == [Code.RECORD_TIME]


def test_a_stamped_head_is_signed_by_the_checkpoint_key_of_its_size() -> None:
    log = ForgedLog()
    old = log.trust().checkpoint_keys
    log.change_key(8, pb.KEY_PURPOSE_CHECKPOINT)
    add_stamp(log, sign_head(log.leaves, log.origin, key(3)))
    plain = log.trust()
    both = Trust(plain.origin, plain.root_key, (*old, *plain.checkpoint_keys))
    assert errors(verified(log, both)) == [Code.NOTE_SIGNATURE]
