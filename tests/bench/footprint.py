"""What a server takes to stand there: memory with a thousand open tables, time to start on a log."""

import time
from pathlib import Path

from tests.bench.plan import Plan
from tests.bench.processes import channel, game_server
from tests.bench.report import Row, Target, compare
from tests.bench.tables import install, open_tables

TABLES = 1000
GAME = "shoe-8d"


def measure_memory(scratch: Path) -> Row:
    """Returns the resident memory of a server with open tables, beside the same server before them."""
    with game_server(scratch / "tables") as server, channel(server) as operator:
        install(operator, GAME)
        before = server.rss_mib()
        open_tables(operator, GAME, TABLES)
        after = server.rss_mib()
    target = Target(200, of_ratio=False)
    what = f"{TABLES:,} open {GAME} tables"
    return compare(
        "memory beside the server without tables", what, "MiB", [(after, before)], target
    )


def _start_s(data_dir: Path) -> float:
    started = time.monotonic()
    with game_server(data_dir):
        return time.monotonic() - started


def measure_restart(plan: Plan, data_dir: Path, rounds: int, scratch: Path) -> Row:
    """Returns the time until a server on a played log listens, beside one on an empty directory."""
    pairs = [
        (_start_s(data_dir), _start_s(scratch / f"empty-{number}"))
        for number in range(plan.repeats)
    ]
    what = f"log of {rounds:,} rounds"
    return compare("restart beside a first start", what, "s", pairs)
