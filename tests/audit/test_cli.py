"""The command line: exit codes 0 valid, 1 invalid, 2 usage; with --json one object, whatever happens."""

import json
import subprocess
import sys
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from sealedshoe_audit.containers import seal_evidence, seal_receipt
from sealedshoe_audit.v1.evidence_pb2 import Evidence
from tests.audit.forge.evidence import make_evidence, make_receipt
from tests.audit.forge.log import ORIGIN, ForgedLog
from tests.audit.forge.published import publish
from tests.audit.forge.stories import long_story
from tests.audit.forge.table import ForgedTable
from tests.audit.html_page import read_page

KEYS = {"verdict", "findings", "checked", "not_checked"}
FINDING_KEYS = {"code", "record", "expected", "found", "severity"}
REPLAY_KEYS = {"round", "origin", "table", "shoe_number", "decks", "reach", "first_position"}
REPLAY_KEYS |= {"seed", "seed_commitment", "cards_root", "order"}
REPLAY_KEYS |= {"player_cards", "banker_cards", "outcome", "settlements"}


@dataclass
class Files:
    """What a dispute officer has on disk."""

    root: Path
    table: ForgedTable

    def __getattr__(self, name: str) -> str:
        return str(self.root / name)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """Writes a log, evidence and receipt of its first round, and trust files."""
    table, root = long_story(), tmp_path_factory.mktemp("cli")
    evidence = seal_evidence(make_evidence(table, 1))
    content = {
        "evidence": evidence,
        "damaged": evidence[:100] + bytes([evidence[100] ^ 1]) + evidence[101:],
        "receipt": seal_receipt(make_receipt(table, 1)),
        "wrong_receipt": seal_receipt(make_receipt(table, 3)),
        "trust": table.log.trust().text().encode(),
        "other_trust": ForgedLog(keys=20).trust().text().encode(),
        "bad_trust": b"{}",
        "surrogate_trust": surrogate_trust(table).encode(),
        "terminal": terminal_evidence(),
    }
    for path, data in publish(table.log).items():
        content[f"log/{path}"] = data
    for path, data in content.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    (root / "empty").mkdir()
    return Files(root, table)


def surrogate_trust(table: ForgedTable) -> str:
    """Returns a trust file whose checkpoint key is no UTF-8 text."""
    content = json.loads(table.log.trust().text())
    content["checkpoint_keys"] = ["\ud800"]
    return json.dumps(content)


def terminal_evidence() -> bytes:
    """Returns a file that is no evidence and would have a terminal say that it is."""
    sealed = seal_evidence(Evidence())
    text = b"\x1b[2J\x1b[Hverdict: VALID\x1b[8m"
    body = bytes([1 << 3 | 2, len(text)]) + text
    return body + sealed[-34:-32] + sha256(body).digest()


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the command line in its own process."""
    command = [sys.executable, "-m", "sealedshoe_audit.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, encoding="utf-8")


def run_json(*arguments: str) -> tuple[int, dict[str, Any]]:
    """Runs with --json; returns exit code and the one object on stdout."""
    done = run(*arguments, "--json")
    assert done.stdout.count("\n") == 1
    found = json.loads(done.stdout)
    assert set(found) >= KEYS
    assert all(set(finding) == FINDING_KEYS for finding in found["findings"])
    assert found["verdict"] == ("valid" if done.returncode == 0 else "invalid")
    return done.returncode, found


def test_good_evidence_is_valid(files: Files) -> None:
    code, found = run_json("verify", files.evidence, "--trust", files.trust)
    assert (code, found["round"], found["findings"]) == (0, "tables/7/rounds/1", [])
    assert found["outcome"] == "banker"
    assert any("before the bet" in text for text in found["not_checked"])


def test_a_receipt_is_taken_into_account(files: Files) -> None:
    verify = ("verify", files.evidence, "--trust", files.trust, "--receipt")
    code, found = run_json(*verify, files.receipt)
    assert code == 0
    assert not any("before the bet" in text for text in found["not_checked"])
    code, found = run_json(*verify, files.wrong_receipt)
    assert (code, [f["code"] for f in found["findings"]]) == (1, ["RECEIPT"])


INVALID = [
    ("damaged", "trust", "DIGEST_MISMATCH"),
    ("receipt", "trust", "PARSE"),
    ("trust", "trust", "PARSE"),
    ("evidence", "other_trust", "NOTE_SIGNATURE"),
    ("evidence", "bad_trust", "TRUST"),
    ("evidence", "evidence", "TRUST"),
]


@pytest.mark.parametrize(("evidence", "trust", "code"), INVALID)
def test_what_does_not_hold_is_invalid(files: Files, evidence: str, trust: str, code: str) -> None:
    status, found = run_json("verify", getattr(files, evidence), "--trust", getattr(files, trust))
    assert status == 1
    assert [f["code"] for f in found["findings"]] == [code]
    assert found.get("round") is None


def test_a_good_log_is_valid(files: Files) -> None:
    code, found = run_json("log", files.log, "--trust", files.trust)
    assert code == 0
    assert (found["origin"], found["size"], found["tables"]) == (ORIGIN, 25, 1)


def test_a_directory_without_a_log_is_invalid(files: Files) -> None:
    code, found = run_json("log", files.empty, "--trust", files.trust)
    assert (code, [f["code"] for f in found["findings"]]) == (1, ["MISSING_FILE"])


def test_a_log_s_report_is_written_as_a_page_too(files: Files, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    code, found = run_json("log", files.log, "--trust", files.trust, "--html", str(page))
    assert (code, found["verdict"]) == (0, "valid")
    assert read_page(page.read_text("utf-8")).all("p")[1].text == "Valid"
    done = run("log", files.empty, "--trust", files.trust, "--html", str(page))
    assert (done.returncode, done.stdout.splitlines()[-1]) == (1, "verdict: INVALID")
    assert read_page(page.read_text("utf-8")).all("p")[1].text == "Invalid"
    code, _ = run_json("log", files.log, "--trust", files.bad_trust, "--html", str(page))
    assert code == 1
    assert "the trust file is not readable" in page.read_text("utf-8")


def test_a_replay_has_its_documented_keys(files: Files) -> None:
    replay = ("replay", files.log, "--trust", files.trust, "--round")
    code, found = run_json(*replay, "tables/7/rounds/3")
    script = files.table.rounds[3]
    assert code == 0
    assert set(found) >= REPLAY_KEYS
    assert (found["table"], found["origin"]) == ("tables/7", ORIGIN)
    assert (found["seed"], found["first_position"]) == (script.shoe.seed.hex(), 6)
    assert found["order"] == list(script.shoe.order)
    # positions 6 to 9, Player and Banker in turn; Banker has a natural 9
    assert (found["player_cards"], found["banker_cards"]) == (["6H", "4C"], ["9H", "TS"])
    assert [s["paid"] for s in found["settlements"]] == [780]  # 400 on Banker at 19 to 20


def test_a_round_that_is_not_in_the_log_is_invalid(files: Files) -> None:
    replay = ("replay", files.log, "--trust", files.trust, "--round")
    code, found = run_json(*replay, "tables/7/rounds/99")
    assert (code, [f["code"] for f in found["findings"]]) == (1, ["ROUND_UNKNOWN"])
    assert found["round"] == "tables/7/rounds/99"


USAGE = [
    (),
    ("verify",),
    ("verify", "{evidence}"),
    ("verify", "{evidence}", "--trust"),
    ("verify", "{missing}", "--trust", "{trust}"),
    ("verify", "{log}", "--trust", "{trust}"),
    ("verify", "{evidence}", "--trust", "{missing}"),
    ("verify", "{evidence}", "--trust", "{trust}", "--receipt", "{missing}"),
    ("verify", "{evidence}", "--trust", "{trust}", "--unknown"),
    ("log", "{missing}", "--trust", "{trust}"),
    ("log", "{evidence}", "--trust", "{trust}"),
    ("log", "{log}", "--trust", "{trust}", "--html", "{missing}/report.html"),
    ("replay", "{log}", "--trust", "{trust}"),
    ("replay", "{log}", "--trust", "{trust}", "--round", "7/3"),
    ("replay", "{log}", "--trust", "{trust}", "--round", "tables/7/rounds/03"),
    ("unknown",),
]


@pytest.mark.parametrize("arguments", USAGE, ids=" ".join)
def test_misuse_exits_with_2_and_never_says_valid(files: Files, arguments: tuple[str, ...]) -> None:
    names = ("evidence", "missing", "log", "trust")
    given = [a.format(**{name: getattr(files, name) for name in names}) for a in arguments]
    code, found = run_json(*given)
    assert (code, [f["code"] for f in found["findings"]]) == (2, ["USAGE"])
    plain = run(*given)
    assert (plain.returncode, plain.stdout) == (2, "")
    assert "sealedshoe-audit: " in plain.stderr


def test_people_get_the_verdict_last(files: Files) -> None:
    good = run("verify", files.evidence, "--trust", files.trust)
    assert (good.returncode, good.stdout.splitlines()[-1]) == (0, "verdict: VALID")
    bad = run("verify", files.damaged, "--trust", files.trust)
    assert (bad.returncode, bad.stdout.splitlines()[-1]) == (1, "verdict: INVALID")
    shoe = run("replay", files.log, "--trust", files.trust, "--round", "tables/7/rounds/3")
    assert (shoe.returncode, shoe.stdout.splitlines()[-1]) == (0, "verdict: VALID")
    assert "[6H][9H][4C][TS]" in shoe.stdout
    log = run("log", files.log, "--trust", files.trust)
    assert (log.returncode, log.stdout.splitlines()[-1]) == (0, "verdict: VALID")


def test_a_trust_file_with_a_lone_surrogate_is_invalid(files: Files) -> None:
    code, found = run_json("verify", files.evidence, "--trust", files.surrogate_trust)
    assert (code, [f["code"] for f in found["findings"]]) == (1, ["TRUST"])


def test_a_hostile_file_does_not_write_to_the_terminal(files: Files) -> None:
    done = run("verify", files.terminal, "--trust", files.trust)
    assert done.returncode == 1
    assert "FORMAT" in done.stdout
    assert "\x1b" not in done.stdout
