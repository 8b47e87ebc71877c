"""DealRound against a bare echo server: the same load generator, in turn, each server a process.

What one call costs the server is its CPU time over a run, divided by the calls: user and system time of
all its threads, commits included.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.bench.load import Order, Played, Seat
from tests.bench.plan import Level, Plan
from tests.bench.processes import LoadGenerator, Measured
from tests.bench.report import Row, Target, compare

# CPU time of a round, in echoes.
TARGETS = {"shoe-8d": Target(2.5), "mini-baccarat-8d": Target(4.0)}


@dataclass(slots=True)
class Pairs:
    """(ours, echo) of every pair of runs at one level."""

    cpu_us: list[tuple[float, float]] = field(default_factory=lambda: [])
    calls_per_s: list[tuple[float, float]] = field(default_factory=lambda: [])
    p50_ms: list[tuple[float, float]] = field(default_factory=lambda: [])
    p99_ms: list[tuple[float, float]] = field(default_factory=lambda: [])
    load_us: list[tuple[float, float]] = field(default_factory=lambda: [])


class Floor:
    """The seats of a server, which move on with every run.

    Attributes:
        calls: answered so far.
    """

    def __init__(self, server: Measured, load: LoadGenerator, seats: list[Seat]) -> None:
        """Takes the open rounds as they are."""
        self._server = server
        self._load = load
        self.seats = seats
        self.calls = 0

    def play(self, level: Level, seconds: float) -> tuple[Played, float]:
        """Runs the load; returns what came of it, and the server's CPU time a call in microseconds."""
        chosen, rest = self.seats[: level.tables], self.seats[level.tables :]
        order = Order(self._server.address, chosen, level.connections, seconds)
        before = self._server.cpu_s()
        played = self._load.play(order)
        used = self._server.cpu_s() - before
        self.seats = [*rest, *played.seats]  # in turn, so that all shoes are used alike
        self.calls += played.calls
        return played, 1e6 * used / played.calls


def measure_rounds(game: str, plan: Plan, ours: Floor, echo: Floor) -> Iterator[Row]:
    """Yields the rows of one game."""
    for level in plan.levels:
        pairs = Pairs()
        for _ in range(plan.repeats):
            dealt, dealt_us = ours.play(level, plan.play_s)
            echoed, echoed_us = echo.play(level, plan.play_s)
            pairs.cpu_us.append((dealt_us, echoed_us))
            pairs.calls_per_s.append((dealt.calls_per_s, echoed.calls_per_s))
            pairs.p50_ms.append((dealt.p50_ms, echoed.p50_ms))
            pairs.p99_ms.append((dealt.p99_ms, echoed.p99_ms))
            pairs.load_us.append((dealt.load_cpu_us, echoed.load_cpu_us))
        section = f"{game}: DealRound beside an echo, {level.text()} at once"
        yield compare(section, "server CPU a call", "us", pairs.cpu_us, TARGETS[game])
        yield compare(section, "calls", "1/s", pairs.calls_per_s)
        yield compare(section, "latency, median", "ms", pairs.p50_ms)
        yield compare(section, "latency, 99th percentile", "ms", pairs.p99_ms)
        yield compare(section, "load generator's CPU a call", "us", pairs.load_us)
