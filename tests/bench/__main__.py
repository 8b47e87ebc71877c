"""`python -m tests.bench`: measures the server and the verifier, as ratios within one run.

The machine may be shared and noisy: ours and its baseline run in turn, several times, and medians are
shown. It always ends well unless something breaks: a missed target is shown, and fails nothing.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from sealedshoe_audit.trust import parse_trust
from tests.bench.cosigning import measure_cosigning
from tests.bench.footprint import measure_memory, measure_restart
from tests.bench.plan import FULL, QUICK, Level, Plan
from tests.bench.processes import LoadGenerator, channel, echo_server, game_server, load_generator
from tests.bench.report import Row, run_json, show
from tests.bench.rounds import Floor, measure_rounds
from tests.bench.scale import measure_hashes, measure_large_restart, measure_second_core
from tests.bench.shoes import measure_shoes
from tests.bench.tables import install, open_tables
from tests.bench.verification import MemoryLog, export, measure_verification

GAMES = ("shoe-8d", "mini-baccarat-8d")
WARM_UP_S = 0.5
WIDTH = 100


@dataclass(frozen=True, slots=True)
class GameRun:
    """What playing a game gave: its rows, its log as it was before them, and all rounds dealt."""

    rows: list[Row]
    log: MemoryLog
    rounds: int


def _play_until(floor: Floor, level: Level, rounds: int) -> bytes:
    """Deals at least so many rounds; returns one answer near the mean size."""
    dealt = 0
    while True:
        played, _ = floor.play(level, WARM_UP_S)
        dealt += played.calls
        if dealt >= rounds:
            return bytes.fromhex(played.sample)


def _measure_game(game: str, plan: Plan, load: LoadGenerator, scratch: Path) -> GameRun:
    most = plan.levels[-1]
    with game_server(scratch / game) as server, channel(server) as operator:
        install(operator, game)
        seats = open_tables(operator, game, most.tables)
        ours = Floor(server, load, seats)
        answer = _play_until(ours, most, plan.rounds_verified)
        log = export(operator)
        with echo_server(answer, scratch) as echo:
            echoes = Floor(echo, load, list(seats))
            echoes.play(most, WARM_UP_S)
            rows = list(measure_rounds(game, plan, ours, echoes))
    return GameRun(rows, log, ours.calls)


def measure(plan: Plan, console: Console) -> Iterator[Row]:
    """Yields every row; says on the console what is under way."""
    with tempfile.TemporaryDirectory(prefix="sealedshoe-bench-") as directory:
        scratch = Path(directory)
        runs: dict[str, GameRun] = {}
        with load_generator(scratch) as load:
            for game in GAMES:
                console.print(f"dealing {game} ...")
                runs[game] = _measure_game(game, plan, load, scratch)
                yield from runs[game].rows
        console.print("shuffling ...")
        yield from measure_shoes(plan)
        for game, run in runs.items():
            console.print(f"verifying {game} ...")
            trust = parse_trust((scratch / game / "trust.json").read_bytes())
            yield measure_verification(game, plan, run.log, trust)
        for game, run in runs.items():
            trust = parse_trust((scratch / game / "trust.json").read_bytes())
            yield measure_second_core(plan, game, run.log, trust)
        console.print(f"hashing {plan.large_log:,} leaves ...")
        yield measure_hashes(plan)
        console.print("opening tables, restarting ...")
        yield measure_memory(scratch)
        yield measure_restart(plan, scratch / GAMES[0], runs[GAMES[0]].rounds, scratch)
        yield measure_large_restart(plan, scratch)
        console.print("asking witnesses ...")
        yield measure_cosigning(plan, scratch)


def main() -> None:
    """Runs the whole benchmark."""
    parser = argparse.ArgumentParser(prog="tests.bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="less than a minute, rougher")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the run as JSON too")
    arguments = parser.parse_args()
    console = Console(width=WIDTH, highlight=False)
    started = time.monotonic()
    rows = list(measure(QUICK if arguments.quick else FULL, console))
    seconds = time.monotonic() - started
    show(console, rows, seconds)
    if arguments.json is not None:
        text = json.dumps(run_json(rows, arguments.quick, seconds), indent=2)
        arguments.json.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
