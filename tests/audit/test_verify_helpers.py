"""Helper processes find what one process finds, down to the texts, on good logs and on tampered ones."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from sealedshoe_audit.errors import Code
from sealedshoe_audit.fold.log import LogFold, Reveal, Vouched
from sealedshoe_audit.fold.state import OpenShoe
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.verify.helpers import HelperProcesses, NoHelpers
from sealedshoe_audit.verify.log import LogOptions, LogReport, verify_log
from sealedshoe_audit.verify.vouch import replay_all, vouch_all
from tests.audit.forge.log import ForgedLog, key, nth, public
from tests.audit.forge.published import MemorySource, errors, publish
from tests.audit.forge.shoe import scripted_seed
from tests.audit.forge.stories import ONE_ROUND, every_kind, long_story, play_shoe, table_of
from tests.audit.forge.table import ForgedTable, wager

Files = dict[str, bytes]


def check(log: ForgedLog, files: Files, helpers: int) -> LogReport:
    """Verifies published files with so many helpers."""
    options = LogOptions(helpers=helpers)
    return verify_log(MemorySource(files), log.trust(), log.time_us, lambda *_: None, options)


@cache
def many_shoes() -> ForgedLog:
    """Returns a log of 40 revealed shoes, two tables, two statement keys and three bundles."""
    log = ForgedLog()
    first = table_of(ONE_ROUND, log, "7")
    second = ForgedTable(log, "8", ONE_ROUND)
    for n in range(20):
        play_shoe(first)
        play_shoe(second)
        if n == 10:
            log.change_key(9)
    while len(log.entries) < 600:
        log.event()
    return log


def flip_signatures(log: ForgedLog) -> None:
    """Spoils the signature of an event in each of two bundles."""

    def spoil(record: Any, envelope: pb.Envelope) -> None:
        if isinstance(record, pb.EventRecorded) and len(log.entries) in (3, 300):
            envelope.signature = envelope.signature[:-1] + bytes([envelope.signature[-1] ^ 1])

    log.spoil = spoil


def lies(record: Any) -> None:
    """Reveals wrong seeds at three shoes of table 7, and settles one round of table 8 wrongly."""
    if isinstance(record, pb.RoundDealt) and record.link.table == "7":
        if record.round_number in (3, 5, 9):
            record.closing.seed = scripted_seed(99, 6)
    elif isinstance(record, pb.RoundDealt) and record.round_number == 4:
        record.settlements[0].gross_return += 1


def tampered() -> ForgedLog:
    """Returns a log with every kind of lie that helpers look at, over two bundles."""
    log = ForgedLog(lies)
    flip_signatures(log)
    for _ in range(3):
        log.event()
    first = table_of(ONE_ROUND, log, "7")
    second = ForgedTable(log, "8", ONE_ROUND)
    for _ in range(20):
        play_shoe(first)
        play_shoe(second)
    while len(log.entries) < 310:
        log.event()
    return log


def test_helpers_and_none_give_one_report_on_a_good_log() -> None:
    log = many_shoes()
    files = publish(log)
    alone = check(log, files, 0)
    assert alone.findings == []
    helped = check(log, files, 2)
    assert helped.json() == alone.json()
    assert helped.position == alone.position != b""


def test_helpers_and_none_give_one_report_on_a_log_of_lies() -> None:
    log = tampered()
    files = publish(log)
    alone = check(log, files, 0)
    assert sorted(errors(alone)) == [
        Code.RECORD_SIGNATURE,
        Code.RECORD_SIGNATURE,
        Code.SEED_COMMITMENT,
        Code.SETTLEMENT,
    ]
    assert check(log, files, 2).json() == alone.json()


@pytest.mark.parametrize("path", ["tile/entries/001.p/54", "tile/0/001.p/54"])
def test_helpers_report_what_was_found_before_a_missing_file(path: str) -> None:
    log = tampered()
    files = publish(log)
    del files[path]
    alone = check(log, files, 0)
    assert Code.MISSING_FILE in errors(alone)
    assert Code.RECORD_SIGNATURE in errors(alone)
    assert check(log, files, 2).json() == alone.json()


def test_no_helpers_vouch_for_nothing_and_replay_at_once() -> None:
    failed: list[int] = []
    helpers = NoHelpers("o", lambda index, _: failed.append(index))
    bundles = [[b"a", b"b"], [b"c"]]
    assert list(helpers.vouch(iter(bundles), bytes)) == [
        ([b"a", b"b"], [None] * 2),
        ([b"c"], [None]),
    ]
    helpers.replay(7, unreplayable())
    assert failed == [7]
    helpers.finish()
    assert failed == [7]


def unreplayable() -> Reveal:
    """Returns a shoe whose seed is not the one committed to."""
    opening = pb.ShoeOpening(shoe_number=1, cards=312, reach=312, seed_commitment=bytes(32))
    return Reveal("7", OpenShoe(opening, bytes(32), 0, None, 0), scripted_seed(1, 6), ())


def revealed() -> list[tuple[int, Reveal]]:
    """Returns every shoe that a good log reveals, with its leaf."""
    log = many_shoes()
    fold = LogFold(log.origin, public(log.root), replay_shoes=False)
    applied = [fold.apply(entry) for entry in log.entries[:130]]
    return [(one.leaf_index, one.reveal) for one in applied if one.reveal is not None]


def test_helper_processes_name_exactly_the_shoes_that_do_not_replay() -> None:
    failed: list[int] = []
    shoes = revealed()
    assert len(shoes) == 40
    with HelperProcesses(2, many_shoes().origin, lambda index, _: failed.append(index)) as helpers:
        for n, (index, shoe) in enumerate(shoes):
            helpers.replay(index, shoe)
            if n % 13 == 0:
                helpers.replay(1000 + n, unreplayable())
        helpers.finish()
    assert sorted(failed) == [1000, 1013, 1026, 1039]


def test_helper_processes_keep_bundles_in_order_and_vouch_for_signed_leaves_only() -> None:
    log = many_shoes()
    bundles = [log.entries[n : n + 40] for n in range(0, 600, 40)]
    signer = public(key(2))

    def asked() -> Iterator[list[bytes]]:
        yield from bundles

    with HelperProcesses(2, log.origin, lambda *_: None) as helpers:
        found = list(helpers.vouch(asked(), lambda: signer))
    assert [leaves for leaves, _ in found] == bundles
    vouched = [one for _, answers in found for one in answers]
    changed = next(n for n, record in enumerate(log.records) if isinstance(record, pb.KeyChanged))
    leaves = log.leaves
    assert vouched[: changed + 1] == [Vouched(leaf, signer) for leaf in leaves[: changed + 1]]
    assert vouched[changed + 1 :] == [None] * (599 - changed)


def test_nobody_vouches_for_a_leaf_that_is_changed_or_signed_by_another_key() -> None:
    log = every_kind()
    signer = public(key(2))
    for entry in log.entries[:5]:
        flipped = [entry[:at] + bytes([entry[at] ^ 1]) + entry[at + 1 :] for at in (0, 9, -1)]
        flipped[2] = entry[:-1] + bytes([entry[-1] ^ 1])
        assert vouch_all([*flipped, entry + b"\0", b""], signer) == [None] * 5
        assert vouch_all([entry], public(key(9))) == [None]
        assert vouch_all([entry], b"") == [None]
        assert vouch_all([entry], signer) != [None]


def test_a_signed_leaf_that_is_not_canonical_is_vouched_for_by_nobody() -> None:
    log = ForgedLog(rewrite=lambda _, payload: payload + b"\xf8\x07\x01")
    assert vouch_all(log.entries, public(key(2))) == [None]


def test_a_shoe_replays_only_with_its_own_seed_cards_and_log() -> None:
    log = long_story().log
    fold = LogFold(log.origin, public(log.root), replay_shoes=False)
    reveal = next(one.reveal for one in map(fold.apply, log.entries) if one.reveal is not None)
    position, card, salt = reveal.dealt[0]
    other_card = ((position, (card + 1) % 52, salt), *reveal.dealt[1:])
    other_salt = ((position, card, bytes(16)), *reveal.dealt[1:])
    cases = [
        reveal,
        Reveal(reveal.table, reveal.opened, scripted_seed(99, 6), reveal.dealt),
        Reveal(reveal.table, reveal.opened, reveal.seed, other_card),
        Reveal(reveal.table, reveal.opened, reveal.seed, other_salt),
        Reveal("8", reveal.opened, reveal.seed, reveal.dealt),
    ]
    assert replay_all(log.origin, cases) == [True, False, False, False, False]
    assert replay_all("other", cases[:1]) == [False]


def test_a_rotated_key_vouches_for_nothing_where_it_is_not_in_force() -> None:
    log = ForgedLog()
    old = log.statement
    log.change_key(9)
    log.statement = old
    log.event()
    files = publish(log)
    alone = check(log, files, 0)
    assert errors(alone) == [Code.RECORD_KEY]
    assert check(log, files, 2).json() == alone.json()


def test_a_wagers_limit_is_found_with_helpers_too() -> None:
    log = ForgedLog(nth(pb.RoundDealt, 1, lambda r: r.settlements.pop(0)))
    table = table_of(ONE_ROUND, log)
    table.open()
    table.accept(wager("a", "player", 100))
    table.deal(wager("b", "banker", 100))
    files = publish(log)
    alone = check(log, files, 0)
    assert not alone.valid
    assert check(log, files, 1).json() == alone.json()
