"""The load generator, a process of its own: tables that deal as fast as their answers come.

It reads one order a line from standard input and answers each with one line, both JSON. Against the echo
server it does exactly the same: that one answers with a recorded DealRound answer.
"""

import asyncio
import itertools
import json
import os
import sys
import time
from dataclasses import asdict, dataclass, field
from statistics import quantiles

import uvloop

from sealedshoe_server.v1 import game_service_pb2 as pb
from tests.bench.http2 import Connection, connect

METHOD = "/sealedshoe_server.v1.GameService/DealRound"
STAKE = 500
PREFIX = os.urandom(8).hex()  # of request ids: no two load processes share one


@dataclass(slots=True)
class Seat:
    """A table as a front-end knows it: the open round's name and opening hash, hexadecimal."""

    round: str
    opening_hash: str


@dataclass(frozen=True, slots=True)
class Order:
    """Play these tables at once, over so many connections, for so long."""

    address: str
    seats: list[Seat]
    connections: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Played:
    """What came of an order; latencies in milliseconds, CPU time in microseconds of this process."""

    calls: int
    calls_per_s: float
    p50_ms: float
    p99_ms: float
    load_cpu_us: float
    sample: str  # one answer near the mean size, hexadecimal
    seats: list[Seat] = field(default_factory=lambda: [])


async def _play(
    connection: Connection, seat: Seat, until: float, ids: "itertools.count[int]"
) -> list[tuple[float, bytes]]:
    """Returns (seconds, answer) of each call."""
    taken: list[tuple[float, bytes]] = []
    name, opening = seat.round, bytes.fromhex(seat.opening_hash)
    wager = pb.NewWager(wager_id="w1", spot="player", stake=STAKE, player="player-0001")
    started = time.perf_counter()
    while started < until:
        request = pb.DealRoundRequest(
            request_id=f"{PREFIX}{next(ids):08}", round=name, opening_hash=opening, wagers=[wager]
        ).SerializeToString()
        started = time.perf_counter()
        answer = await connection.call(request)
        ended = time.perf_counter()
        taken.append((ended - started, answer))
        following = pb.DealRoundResponse.FromString(answer).round.next_round
        name, opening, started = following.name, following.opening_hash, ended
    seat.round, seat.opening_hash = name, opening.hex()
    return taken


async def run(order: Order, ids: "itertools.count[int]") -> Played:
    """Plays one order to its end."""
    connections = [await connect(order.address, METHOD) for _ in range(order.connections)]
    cpu, started = time.process_time(), time.perf_counter()
    until = started + order.seconds
    lists = await asyncio.gather(
        *(
            _play(connections[i % len(connections)], seat, until, ids)
            for i, seat in enumerate(order.seats)
        )
    )
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    for connection in connections:
        connection.close()
    taken = list(itertools.chain.from_iterable(lists))
    cuts = quantiles((1000 * latency for latency, _ in taken), n=100)
    mean = sum(len(answer) for _, answer in taken) / len(taken)
    sample = min((answer for _, answer in taken), key=lambda answer: abs(len(answer) - mean))
    cpu_us = 1e6 * cpu / len(taken)
    rate = len(taken) / seconds
    return Played(len(taken), rate, cuts[49], cuts[98], cpu_us, sample.hex(), order.seats)


def main() -> None:
    """Serves orders until standard input ends."""
    ids = itertools.count()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        for line in sys.stdin:
            values = json.loads(line)
            seats = [Seat(**seat) for seat in values.pop("seats")]
            played = runner.run(run(Order(seats=seats, **values), ids))
            print(json.dumps(asdict(played)), flush=True)


if __name__ == "__main__":
    main()
