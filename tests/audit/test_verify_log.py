"""A whole log: what is published must be what was signed, and the report says what remains open."""

from collections.abc import Callable
from functools import cache

import pytest

from sealedshoe_audit.errors import Code
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.verify.log import LogReport, verify_log
from tests.audit.forge.log import CHECKPOINT, START_US, ForgedLog, key, nth, sign_root
from tests.audit.forge.published import MemorySource, check_log, errors, publish
from tests.audit.forge.shoe import BANKER, PLAYER
from tests.audit.forge.stories import ONE_ROUND, SHORT, long_story, play_shoe, table_of
from tests.audit.forge.table import ForgedTable, install, wager
from tests.audit.forge.tree import root_of

Files = dict[str, bytes]
SIZE = 300  # one full tile and bundle, a partial one, and a second level


@cache
def big_log() -> ForgedLog:
    """Returns a log of 300 leaves."""
    log = long_story().log
    while len(log.entries) < SIZE:
        log.event()
    return log


def check(files: Files, log: ForgedLog) -> LogReport:
    """Verifies published files."""
    return verify_log(MemorySource(files), log.trust(), log.time_us, lambda *_: None)


def test_a_log_over_several_tiles_is_valid() -> None:
    report = check(publish(big_log()), big_log())
    assert report.findings == []
    assert report.records == SIZE
    assert any(text.startswith("3 tiles against the entries") for text in report.checked)


def test_the_report_names_the_root_and_counts_every_record_in_a_bin() -> None:
    facts = check(publish(big_log()), big_log()).facts
    assert facts["root"] == root_of(big_log().leaves).hex()
    assert sum(facts["growth"]["records"]) == SIZE


def test_an_empty_directory_is_no_log() -> None:
    assert errors(check({}, big_log())) == [Code.MISSING_FILE]


PATHS = ["checkpoint", "tile/0/000", "tile/0/001.p/44", "tile/1/000.p/1"]
PATHS += ["tile/entries/000", "tile/entries/001.p/44"]


def test_the_paths_are_all_that_is_published() -> None:
    assert sorted(publish(big_log())) == sorted(PATHS)


@pytest.mark.parametrize("path", PATHS)
def test_a_missing_file_is_found(path: str) -> None:
    files = publish(big_log())
    del files[path]
    report = check(files, big_log())
    assert errors(report) == [Code.MISSING_FILE]
    assert report.findings[0].expected == path


@pytest.mark.parametrize("path", [path for path in PATHS if path.startswith("tile/0")] + PATHS[3:4])
@pytest.mark.parametrize("change", ["first", "last", "cut", "longer"])
def test_a_changed_tile_is_found(path: str, change: str) -> None:
    files = publish(big_log())
    tile = files[path]
    files[path] = {
        "first": bytes([tile[0] ^ 1]) + tile[1:],
        "last": tile[:-1] + bytes([tile[-1] ^ 0x80]),
        "cut": tile[:-32],
        "longer": tile + bytes(32),
    }[change]
    assert errors(check(files, big_log())) == [Code.TILE_MISMATCH]


@pytest.mark.parametrize("path", PATHS[4:])
@pytest.mark.parametrize("change", ["cut", "longer", "empty"])
def test_a_bundle_that_does_not_hold_its_entries_is_found(path: str, change: str) -> None:
    files = publish(big_log())
    bundle = files[path]
    files[path] = {"cut": bundle[:-1], "longer": bundle + b"\x00", "empty": b""}[change]
    assert errors(check(files, big_log())) == [Code.PARSE]


def swap_last(entries: list[bytes]) -> None:
    """Exchanges the last two entries."""
    entries[-1], entries[-2] = entries[-2], entries[-1]


def test_entries_changed_behind_the_checkpoint_are_found() -> None:
    log = ForgedLog()
    log.event()
    log.event()
    files = publish(log)
    swap_last(log.entries)
    swapped = publish(log)
    bundle = "tile/entries/000.p/3"
    assert errors(check(files | {bundle: swapped[bundle]}, log)) == [Code.TILE_MISMATCH]
    assert errors(check(swapped | {"checkpoint": files["checkpoint"]}, log)) == [Code.ROOT_MISMATCH]


def test_a_changed_entry_fails_its_signature_and_its_tile() -> None:
    log = big_log()
    files = publish(log)
    entry = log.entries[3]
    files["tile/entries/000"] = files["tile/entries/000"].replace(
        entry, entry[:-1] + bytes([entry[-1] ^ 1])
    )
    found = errors(check(files, log))
    assert found[0] is Code.RECORD_SIGNATURE
    assert found[-1] is Code.TILE_MISMATCH


def signed_head(root: bytes, size: int) -> bytes:
    """Returns a checkpoint by the log's own key."""
    log = big_log()
    return sign_root(root, size, log.origin, key(CHECKPOINT))


HEADS: dict[str, tuple[Callable[[], bytes], Code]] = {
    "another root": (lambda: signed_head(bytes(32), SIZE), Code.ROOT_MISMATCH),
    "a larger size": (lambda: signed_head(bytes(32), SIZE + 1), Code.MISSING_FILE),
    "the largest size": (lambda: signed_head(bytes(32), 10**19 - 1), Code.MISSING_FILE),
    "a smaller size": (lambda: big_log().note(SIZE - 1), Code.MISSING_FILE),
    "another operator's": (lambda: ForgedLog(keys=20).note(), Code.NOTE_SIGNATURE),
    "another log's": (lambda: ForgedLog(origin="other").note(), Code.ORIGIN_MISMATCH),
    "nothing": (lambda: b"", Code.PARSE),
}


@pytest.mark.parametrize(("head", "code"), HEADS.values(), ids=HEADS.keys())
def test_a_head_that_the_entries_do_not_lead_to_is_found(
    head: Callable[[], bytes], code: Code
) -> None:
    files = publish(big_log()) | {"checkpoint": head()}
    assert errors(check(files, big_log())) == [code]


def test_an_older_head_is_valid_where_its_own_partial_files_are() -> None:
    log = long_story().log
    older = ForgedLog()
    older.entries = log.entries[:20]
    report = check(publish(log) | publish(older), log)
    assert report.valid
    assert report.records == 20


def test_a_broken_table_hides_nothing_of_another() -> None:
    def lie(record: pb.RoundDealt) -> None:
        if record.link.table in ("7", "9"):
            record.player_total += 1

    log = ForgedLog(lambda r: isinstance(r, pb.RoundDealt) and lie(r))
    install(log, SHORT)
    tables = [ForgedTable(log, name, SHORT) for name in ("7", "8", "9")]
    for _ in range(2):
        for table in tables:
            table.open()
            table.deal(wager("a", "player", 100))
    report = check_log(log)
    assert errors(report) == [Code.DEAL, Code.DEAL]
    assert [f.record.split()[-1] for f in report.findings] == ["tables/7", "tables/9"]
    assert report.facts["broken_tables"] == ["7", "9"]
    assert report.facts["games"]["short-6d version 1"]["rounds"] == 2


def test_a_bad_game_is_no_finding_about_a_table_of_its_name() -> None:
    log = ForgedLog(nth(pb.GameInstalled, 1, lambda r: r.odds.pop()))
    install(log, ONE_ROUND)
    install(log, SHORT)
    table = ForgedTable(log, ONE_ROUND.game_id, SHORT)
    table.open()
    table.deal()
    report = check_log(log)
    assert errors(report) == [Code.ODDS_MISMATCH, Code.WAGER]


def test_a_table_whose_id_is_too_long_hides_no_other() -> None:
    log = ForgedLog()
    install(log, SHORT)
    table = ForgedTable(log, "x" * 40, SHORT)
    ForgedTable(log, "x" * 41, SHORT)
    table.open()
    table.deal()
    assert errors(check_log(log)) == [Code.RECORD_LIMITS, Code.WAGER]


def test_open_shoes_and_unfinished_rounds_are_listed_with_their_age() -> None:
    log = ForgedLog()
    install(log, SHORT)
    first, second = ForgedTable(log, "7", SHORT), ForgedTable(log, "8", SHORT)
    first.open()
    first.deal(wager("a", "player", 100))
    first.open()
    first.accept(wager("a", "player", 100), wager("b", "tie", 100))
    second.open()
    # leaves 0 to 8 one second apart: accepted 8 s, second table's opening 9 s after the start
    report = check_log(log, START_US + 109_999_999)
    assert report.valid
    dealt = len(first.rounds[1].dealt.cards)
    assert report.facts["unclosed_shoes"] == [
        {"table": "tables/7", "shoe_number": 1, "cards_dealt": dealt, "age_s": 101},
        {"table": "tables/8", "shoe_number": 1, "cards_dealt": 0, "age_s": 100},
    ]
    assert report.facts["unfinished_rounds"] == [
        {"round": "tables/7/rounds/2", "wagers": 2, "age_s": 102}
    ]
    assert any("2 shoes that are not revealed yet" in text for text in report.not_checked)


def test_a_log_of_closed_shoes_lists_none() -> None:
    facts = check_log(long_story().log).facts
    assert facts["unclosed_shoes"] == facts["unfinished_rounds"] == facts["broken_tables"] == []


def test_totals_are_those_of_the_script() -> None:
    table = table_of(ONE_ROUND)
    for _ in range(30):
        play_shoe(table)  # 400 on Banker each
    outcomes = [script.dealt.outcome for script in table.rounds.values()]
    won, lost = outcomes.count(BANKER), outcomes.count(PLAYER)
    assert check_log(table.log).facts["games"]["punto-banco-6d version 1"] == {
        "rounds": 30,
        "voided": 0,
        "outcomes": {"player": lost, "banker": won, "tie": 30 - won - lost},
        "expected": {"player": "0.446279", "banker": "0.458653", "tie": "0.095069"},
        "money": {
            "EUR": {
                "wagers": 30,
                "staked": 12_000,
                "returned": 800 * won + 400 * (30 - won - lost),
                "commission": 20 * won,
            }
        },
    }


def test_the_report_never_claims_that_everybody_sees_this_log() -> None:
    report = check_log(ForgedLog())
    assert "that the operator shows everybody this same log: needs witnesses" in report.not_checked
    assert "times before or after: the trust file asks for no cosignatures" in report.not_checked
