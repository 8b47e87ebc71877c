"""From a head's release to its quorum: three witnesses on loopback, under play."""

import threading
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import quantiles
from typing import Any

import grpc

from sealedshoe_audit.log.checkpoint import parse_checkpoint
from sealedshoe_audit.log.note import parse_note
from sealedshoe_server.client import new_request_id
from sealedshoe_server.demo.outsiders import WitnessProcess
from sealedshoe_server.v1 import audit_service_pb2 as pb_audit
from sealedshoe_server.v1 import game_service_pb2 as pb_game
from sealedshoe_server.v1.audit_service_pb2_grpc import AuditServiceStub
from sealedshoe_server.v1.game_service_pb2_grpc import GameServiceStub
from tests.bench.plan import Plan
from tests.bench.processes import BenchBroken, channel, game_server
from tests.bench.report import Row, Target, compare
from tests.bench.tables import install, open_tables

WITNESSES = 3
GAME = "mini-baccarat-8d"
TIMEOUT_S = 10.0


class HeadTimes(threading.Thread):
    """Notes when each head came signed, and when a cosigned one covered it."""

    def __init__(self, stub: AuditServiceStub) -> None:
        super().__init__(daemon=True)
        self._stream = stub.WatchCheckpoints(pb_audit.WatchCheckpointsRequest())
        self._waiting: list[tuple[int, float]] = []
        self.seconds: list[float] = []

    def run(self) -> None:
        try:
            for answer in self._stream:
                self._take(answer)
        except grpc.RpcError:
            return  # the run is over

    def _take(self, answer: Any) -> None:
        now = time.monotonic()
        size = parse_checkpoint(parse_note(answer.checkpoint).text).size
        if not answer.cosigned:
            self._waiting.append((size, now))
            return
        self.seconds += [now - then for head, then in self._waiting if head <= size]
        self._waiting = [(head, then) for head, then in self._waiting if head > size]

    def stop(self) -> None:
        """Ends the stream."""
        self._stream.cancel()
        self.join()


def measure_cosigning(plan: Plan, scratch: Path) -> Row:
    """Returns the 99th percentile beside the median."""
    data_dir = scratch / "cosigned"
    with game_server(data_dir):
        vkey = (data_dir / "vkey").read_text("ascii").strip()
    with ExitStack() as stack:
        policy = scratch / "policy"
        policy.write_text(_policy(stack, vkey, scratch), "ascii")
        config = scratch / "cosigned.toml"
        config.write_text(f'witness_policy = "{policy}"\n', "utf-8")
        server = stack.enter_context(game_server(data_dir, "--config", str(config)))
        opened = stack.enter_context(channel(server))
        install(opened, GAME)
        (seat,) = open_tables(opened, GAME, 1)
        times = HeadTimes(AuditServiceStub(opened))
        times.start()
        _play(GameServiceStub(opened), seat.round, bytes.fromhex(seat.opening_hash), plan)
        times.stop()
    if len(times.seconds) < 100:
        raise BenchBroken(f"only {len(times.seconds)} heads were cosigned")
    cuts = quantiles(times.seconds, n=100)
    what = f"{len(times.seconds):,} heads, p99 beside p50"
    target = Target(1.0, of_ratio=False)
    section = f"release to quorum, {WITNESSES} loopback witnesses, all to be met"
    return compare(section, what, "s", [(cuts[98], cuts[49])], target)


def _policy(stack: ExitStack, vkey: str, scratch: Path) -> str:
    lines: list[str] = []
    names = [f"w{number}" for number in range(WITNESSES)]
    for name in names:
        witness = WitnessProcess(scratch / name, f"{name}.example")
        stack.callback(witness.stop)
        witness.start(vkey)
        lines.append(f"witness {name} {witness.vkey} {witness.url}\n")
    return "".join([*lines, f"group all {WITNESSES} {' '.join(names)}\n", "quorum all\n"])


def _play(stub: GameServiceStub, name: str, opening_hash: bytes, plan: Plan) -> None:
    until = time.monotonic() + plan.play_s * plan.repeats
    while time.monotonic() < until:
        request = pb_game.DealRoundRequest(
            request_id=new_request_id(),
            round=name,
            opening_hash=opening_hash,
            wagers=[pb_game.NewWager(wager_id="w", spot="banker", stake=500, player="p")],
        )
        dealt = stub.DealRound(request, timeout=TIMEOUT_S).round.next_round
        name, opening_hash = dealt.name, dealt.opening_hash
