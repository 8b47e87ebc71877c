"""Two processes that race on one store: one history, whoever wins each turn."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from sealedshoe_audit.log.checkpoint import Checkpoint
from sealedshoe_audit.log.merkle import EMPTY_ROOT, Frontier, leaf_hash
from sealedshoe_server.storage.sqlite import SqliteStore

ORIGIN = "race.test/log"
APPENDS = 150

WRITER = """
import sys
from pathlib import Path
from sealedshoe_audit.log.merkle import leaf_hash
from sealedshoe_server.storage.interface import Batch, Committed, NewEntry
from sealedshoe_server.storage.sqlite import SqliteStore
store = SqliteStore(Path(sys.argv[1]), sys.argv[2])
for number in range(int(sys.argv[4])):
    envelope = f"{sys.argv[3]} {number}".encode()
    head, outcomes = store.append([Batch((NewEntry(envelope, leaf_hash(envelope)),))], number)
    assert isinstance(outcomes[0], Committed)
    print(outcomes[0].first_index, envelope.decode(), flush=True)
store.close()
"""


def test_two_processes_never_make_two_heads(tmp_path: Path) -> None:
    """Every committed head is the root of that many entries, and every acknowledged entry stands."""
    path = tmp_path / "log.db"
    SqliteStore(path, ORIGIN).close()
    command = [sys.executable, "-c", WRITER, str(path), ORIGIN]
    writers = [
        subprocess.Popen([*command, name, str(APPENDS)], stdout=subprocess.PIPE, text=True)
        for name in ("left", "right")
    ]
    acknowledged: dict[int, str] = {}
    for writer in writers:
        lines, _ = writer.communicate(timeout=120)
        assert writer.returncode == 0
        for line in lines.splitlines():
            index, text = line.split(" ", 1)
            assert acknowledged.setdefault(int(index), text) == text
    with closing(sqlite3.connect(path)) as db:
        entries = [row[0] for row in db.execute("SELECT envelope FROM entries ORDER BY idx")]
        heads = dict(db.execute("SELECT size, text FROM heads"))
    assert [entry.decode() for entry in entries] == [acknowledged[i] for i in range(2 * APPENDS)]
    tree = Frontier()
    roots = {0: EMPTY_ROOT}
    for entry in entries:
        tree.append(leaf_hash(entry))
        roots[tree.size] = tree.root()
    assert heads == {size: Checkpoint(ORIGIN, size, root).text() for size, root in roots.items()}
