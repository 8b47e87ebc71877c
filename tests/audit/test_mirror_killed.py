"""A mirror whose process dies at any of its writes takes up where it stood."""

import subprocess
import sys
from pathlib import Path

import pytest

from sealedshoe_audit.mirror.mirror import Mirror
from tests.audit.mirrored import TRUST, files_at, files_in, note_at, source_at

# Dies without a word at the n-th file that it is about to open for writing, rename or remove.
DYING = """
import os, sys
from pathlib import Path
from sealedshoe_audit.cli.sources import open_source
from sealedshoe_audit.mirror.mirror import Mirror
from sealedshoe_audit.trust import parse_trust

directory, source, left = Path(sys.argv[1]), open_source(sys.argv[2]), int(sys.argv[3])
mirror = Mirror(directory, parse_trust(Path(sys.argv[4]).read_bytes()))

def die(event, arguments):
    global left
    writes = event == "open" and isinstance(arguments[1], str) and arguments[1][0] in "wa"
    if writes or event in ("os.rename", "os.remove"):
        if not left:
            os._exit(9)
        left -= 1

sys.addaudithook(die)
mirror.follow(source)
"""


def put(directory: Path, files: dict[str, bytes]) -> None:
    """Writes a log's files."""
    for path, data in files.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_bytes(data)


def dies_at(write: int, mirror: Path, source: Path, trust: Path) -> bool:
    """Follows in another process, which dies at a write; False when it finished before."""
    arguments = [str(mirror), str(source), str(write), str(trust)]
    done = subprocess.run([sys.executable, "-c", DYING, *arguments], timeout=60, check=False)
    assert done.returncode in (0, 9)
    return done.returncode == 9


@pytest.mark.parametrize(("old", "new"), [(100, 200), (100, 300)])
def test_a_mirror_killed_at_any_write_has_all_files_after_the_next_look(
    tmp_path: Path, old: int, new: int
) -> None:
    source, trust = tmp_path / "log", tmp_path / "trust.json"
    put(source, files_at(new))
    trust.write_text(TRUST.text())
    positions, write = [], 0
    while True:
        directory = tmp_path / f"mirror{write}"
        Mirror(directory, TRUST).follow(source_at(old))
        if not dies_at(write, directory, source, trust):
            break
        resumed = Mirror(directory, TRUST)
        positions.append(resumed.size)
        assert (directory / "checkpoint").read_bytes() == note_at(resumed.size)
        resumed.follow(source_at(new))
        assert files_at(new).items() <= files_in(directory).items()
        if new < 256:
            left = {path for path in files_in(directory) if not path.endswith(".new")}
            assert left == set(files_at(new))
        write += 1
    assert files_in(directory) == files_at(new)
    # The position moves once, behind every new file and before the old ones are removed.
    assert positions == sorted(positions)
    assert set(positions) == {old, new}
    assert positions.count(new) == len(set(files_at(old)) - set(files_at(new)))
