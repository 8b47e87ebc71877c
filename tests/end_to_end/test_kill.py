"""SIGKILL at random moments under load: nothing acknowledged is lost, changed or dealt twice."""

import asyncio
from pathlib import Path

import grpc

from sealedshoe_audit.fold.log import LogFold
from sealedshoe_audit.records import open_record
from sealedshoe_audit.trust import Trust, parse_trust
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_rng import OsSource
from sealedshoe_server.client import Checker, statement_key
from sealedshoe_server.demo.players import Ledger, TablePlayer, ask_again
from sealedshoe_server.demo.process import ServerProcess
from sealedshoe_server.v1 import game_service_pb2 as pb_game
from sealedshoe_server.v1.game_service_pb2_grpc import GameServiceStub
from tests.end_to_end.reading import read_log

KILLS = 100
LONGEST_PLAY_S = 0.6
TABLES = ("tables/shoe-8d", "tables/shoe-6d", "tables/mini-baccarat-8d", "tables/punto-banco-6d")
CHANNEL = [
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.min_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 100),
]


class GrowingLog:
    """The log as it was last seen, verified leaf by leaf as it grows."""

    def __init__(self, trust: Trust) -> None:
        self._trust = trust
        self._fold = LogFold(trust.origin, trust.root_key)
        self._acknowledged: set[str] = set()
        self.leaves: list[bytes] = []

    def look(self, address: str, ledger: Ledger) -> None:
        """The old leaves are a prefix of the new; every new one passes; what was answered is there."""
        answered = dict(ledger.answers)
        _, leaves = read_log(address, self._trust)
        assert leaves[: len(self.leaves)] == self.leaves
        for leaf in leaves[len(self.leaves) :]:
            self._fold.apply(leaf)
        self.leaves = leaves
        for request_id in answered.keys() - self._acknowledged:
            method, _, data = answered[request_id]
            if method == "DealRound":
                logged = pb_game.DealRoundResponse.FromString(data).round.result
            else:
                logged = pb_game.PlaceWagersResponse.FromString(data).accepted
            assert leaves[logged.index] == logged.envelope
            self._acknowledged.add(request_id)


async def play_and_kill(server: ServerProcess, trust: Trust) -> tuple[Ledger, GrowingLog]:
    address = server.addresses["grpc"]
    with grpc.insecure_channel(address) as channel:
        key = statement_key(channel)
    ledger = Ledger(lambda: None)
    log = GrowingLog(trust)
    async with grpc.aio.insecure_channel(address, options=CHANNEL) as channel:
        stub = GameServiceStub(channel)
        players = [
            asyncio.create_task(
                TablePlayer(
                    stub, Checker(trust, key), ledger, table, guests=table == TABLES[0]
                ).play(10**6)
            )
            for table in TABLES
        ]
        for _ in range(KILLS):
            moment = int.from_bytes(OsSource().read(2), "big") / 65_536
            await asyncio.sleep(LONGEST_PLAY_S * moment)
            await asyncio.to_thread(server.kill)
            await asyncio.to_thread(server.start)
            await asyncio.to_thread(log.look, address, ledger)
            for player in players:
                assert not player.done(), player.exception()
        for player in players:
            player.cancel()
        await asyncio.gather(*players, return_exceptions=True)
        compared = await ask_again(ledger, stub)
        assert compared == len(ledger.answers) > KILLS
    return ledger, log


def test_a_hundred_kills_lose_change_and_repeat_nothing(
    server: ServerProcess, tmp_path: Path
) -> None:
    """After each of 100 kills the log verifies and holds every acknowledged answer."""
    trust = parse_trust((tmp_path / "data" / "trust.json").read_bytes())
    ledger, log = asyncio.run(play_and_kill(server, trust))
    log.look(server.addresses["grpc"], ledger)
    starts = dealt = 0
    names: set[tuple[str, int]] = set()
    for leaf in log.leaves:
        record = open_record(leaf)
        if isinstance(record, pb.EventRecorded):
            starts += record.event_class == pb.EventClass.EVENT_CLASS_SERVER_STARTED
        elif isinstance(record, pb.RoundDealt):
            dealt += 1
            names.add((record.link.table, record.round_number))
    assert starts == KILLS + 1
    assert dealt == len(names)
    assert dealt >= sum(map(len, ledger.results.values())) > KILLS
    assert ledger.retries > 0
