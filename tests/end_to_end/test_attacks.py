"""An operator with every key rewrites or rolls back the log: a mirror and a witness both find it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from sealedshoe_audit.cli.sources import DirectorySource
from sealedshoe_audit.log.checkpoint import parse_checkpoint
from sealedshoe_audit.log.note import parse_note
from sealedshoe_audit.log.reader import read_entries
from sealedshoe_audit.records import open_record
from sealedshoe_audit.trust import parse_trust
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.verify.log import verify_log
from sealedshoe_audit.witness.store import WitnessStore
from sealedshoe_server.cli.demo import show_attack
from sealedshoe_server.demo.attacks import Seen


def stage(attack: str, out: Path) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """Runs `sealedshoe demo --attack` and returns how it ended with its report."""
    command = [sys.executable, "-m", "sealedshoe_server", "demo", "--attack", attack]
    done = subprocess.run(
        [*command, "--out", str(out)], capture_output=True, text=True, check=False
    )
    report: dict[str, Any] = json.loads((out / "report.json").read_text("utf-8"))
    return done, report


@pytest.fixture(scope="module")
def rewritten(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any, Any]:
    """Output directory, process and report of the rewrite."""
    out = tmp_path_factory.mktemp("rewrite") / "out"
    return out, *stage("rewrite", out)


@pytest.fixture(scope="module")
def rolled_back(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any, Any]:
    """Output directory, process and report of the rollback."""
    out = tmp_path_factory.mktemp("rollback") / "out"
    return out, *stage("rollback", out)


def head(path: Path) -> tuple[int, bytes]:
    """Size and root of a checkpoint file."""
    found = parse_checkpoint(parse_note(path.read_bytes()).text)
    return found.size, found.root


def dealt(directory: Path) -> list[pb.RoundDealt]:
    """Every result in a published log."""
    size, _ = head(directory / "checkpoint")
    records = map(open_record, read_entries(DirectorySource(directory), size))
    return [record for record in records if isinstance(record, pb.RoundDealt)]


def test_a_rewritten_result_is_found_by_mirror_and_witness(
    rewritten: tuple[Path, Any, Any],
) -> None:
    """Exit 0 says that both did; the report says what was seen."""
    _, done, report = rewritten
    assert done.returncode == 0, done.stderr
    assert report["mirror_caught"] is report["witness_caught"] is True
    assert report["mirror"].startswith("SPLIT_VIEW")
    assert "422" in report["witness"]
    assert "found by the mirror and by the witness" in done.stdout


def test_the_rewritten_log_pays_less_and_is_sound_in_itself(
    rewritten: tuple[Path, Any, Any],
) -> None:
    """One winner gets less; nobody without an older head could tell."""
    out, _, _ = rewritten
    real, forged = dealt(out / "log"), dealt(out / "forged-log")
    changed = [(a, b) for a, b in zip(real, forged, strict=True) if a.settlements != b.settlements]
    assert len(changed) == 1
    was, now = (sum(s.gross_return for s in record.settlements) for record in changed[0])
    assert now < was
    trust = parse_trust((out / "trust-without-witnesses.json").read_bytes())
    source = DirectorySource(out / "forged-log")
    assert verify_log(source, trust, 0, lambda *_: None).valid


def test_the_mirror_keeps_both_heads_of_a_fork(rewritten: tuple[Path, Any, Any]) -> None:
    """Two signatures of one key over two histories: the operator cannot deny either."""
    out, _, _ = rewritten
    conflict = out / "mirror" / "conflict"
    ours, theirs = head(conflict / "ours"), head(conflict / "theirs")
    assert ours == head(out / "mirror" / "checkpoint") == head(out / "log" / "checkpoint")
    assert theirs == head(out / "forged-log" / "checkpoint")
    assert ours[0] == theirs[0]
    assert ours[1] != theirs[1]


def test_the_witness_keeps_the_head_that_it_refused(rewritten: tuple[Path, Any, Any]) -> None:
    """With the log's own signature on it."""
    out, _, _ = rewritten
    store = WitnessStore(out / "witness" / "witness.db")
    (fork,) = store.forks()
    store.close()
    assert fork == (out / "forged-log" / "checkpoint").read_bytes()


def test_a_restored_backup_is_found_by_guard_witness_and_mirror(
    rolled_back: tuple[Path, Any, Any],
) -> None:
    """The server refuses twice, and when it is forced, the outsiders refuse."""
    out, done, report = rolled_back
    assert done.returncode == 0, done.stderr
    assert report["mirror_caught"] is report["witness_caught"] is True
    guard, witnesses = report["server"]
    assert "its guard knows" in guard
    assert "rolled back" in witnesses
    assert head(out / "mirror" / "checkpoint") != head(out / "second-log" / "checkpoint")


@pytest.mark.parametrize("by", ["mirror_caught", "witness_caught"])
def test_an_attack_that_only_one_outsider_found_ends_with_an_error(by: str) -> None:
    """The check can fail: both must have found it."""
    with pytest.raises(click.ClickException, match="not found by both"):
        show_attack(Seen("rewrite", **{by: True}))


def test_it_leaves_other_peoples_files_alone(tmp_path: Path) -> None:
    """A directory that is not an earlier attack's is refused."""
    out = tmp_path / "mine"
    shutil.copytree("docs/adr", out)
    command = [sys.executable, "-m", "sealedshoe_server", "demo", "--attack", "rewrite"]
    done = subprocess.run(
        [*command, "--out", str(out)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "not empty" in done.stderr
    assert any(out.iterdir())
