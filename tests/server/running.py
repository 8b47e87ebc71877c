"""A server in this process, spoken to over real gRPC and HTTP as its users speak to it."""

import asyncio
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from sealedshoe_audit.records import Record
from sealedshoe_audit.v1 import game_pb2
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_rng import EntropySource
from sealedshoe_server.config import Config
from sealedshoe_server.server import Server
from sealedshoe_server.v1 import audit_service_pb2 as pb_audit
from sealedshoe_server.v1 import game_service_pb2 as pb_game
from sealedshoe_server.v1 import operator_service_pb2 as pb_op
from sealedshoe_server.v1.audit_service_pb2_grpc import AuditServiceStub
from sealedshoe_server.v1.game_service_pb2_grpc import GameServiceStub
from sealedshoe_server.v1.operator_service_pb2_grpc import OperatorServiceStub
from tests.server.games import game_text
from tests.server.reading import audit_log, stored_records

State = pb.TableState
LIMITS = {"currency": "USD", "minimum": 100, "maximum": 100_000, "step": 20}


def wager(
    wager_id: str = "w1", stake: int = 100, spot: str = "player", player: str = "alice"
) -> pb_game.NewWager:
    """A wager as a front-end offers it."""
    return pb_game.NewWager(wager_id=wager_id, spot=spot, stake=stake, player=player)


@dataclass
class Running:
    """A started server with a client to it.

    Attributes:
        notices: finding codes that the test means its log to have.
    """

    server: Server
    config: Config
    channel: grpc.aio.Channel
    stopped: bool = False
    notices: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.game: Any = GameServiceStub(self.channel)
        self.operator: Any = OperatorServiceStub(self.channel)
        self.audit: Any = AuditServiceStub(self.channel)
        self._numbers = count(1)

    @property
    def data_dir(self) -> Path:
        return self.config.data_dir

    def fresh(self) -> str:
        """A request id that this server has not seen from this test."""
        return f"{id(self):x}-{next(self._numbers)}"

    async def raw(self, method: str, request: Any, timeout: float = 10.0) -> bytes:
        """The answer's bytes as they came over the wire."""
        service = "OperatorService" if method in OPERATOR_METHODS else "GameService"
        call = self.channel.unary_unary(f"/sealedshoe_server.v1.{service}/{method}")
        return await call(request.SerializeToString(), timeout=timeout)

    async def install(self, game_id: str = "shoe-6d", **changes: object) -> None:
        """Installs a game, changed as `game_text` does."""
        request = pb_op.InstallGameRequest(
            request_id=self.fresh(), definition_toml=game_text(game_id, **changes)
        )
        await self.operator.InstallGame(request, timeout=10)

    async def open_table(
        self, table: str = "t", game: str = "shoe-6d", spot_maximum: int = 0, **settings: Any
    ) -> None:
        """Opens a table for an installed game."""
        limits = game_pb2.Limits(**{**LIMITS, "spot_maximum": spot_maximum})
        given = pb.TableSettings(game_id=game, game_version=1, limits=limits)
        for name, value in settings.items():
            if name in LIMITS:
                setattr(given.limits, name, value)
            else:
                setattr(given, name, value)
        await self.operator.CreateTable(
            pb_op.CreateTableRequest(request_id=self.fresh(), table_id=table, settings=given),
            timeout=10,
        )

    async def table(self, table: str = "t") -> pb_game.GetTableResponse:
        """GetTable."""
        return await self.game.GetTable(pb_game.GetTableRequest(name=f"tables/{table}"), timeout=10)

    async def deal_request(
        self,
        table: str = "t",
        wagers: Sequence[pb_game.NewWager] | None = None,
        request_id: str = "",
    ) -> pb_game.DealRoundRequest:
        """A DealRound of the open round, with one wager unless told otherwise."""
        opened = (await self.table(table)).round
        return pb_game.DealRoundRequest(
            request_id=request_id or self.fresh(),
            round=opened.name,
            opening_hash=opened.opening_hash,
            wagers=[wager()] if wagers is None else wagers,
        )

    async def deal(
        self, table: str = "t", wagers: Sequence[pb_game.NewWager] | None = None
    ) -> pb_game.DealtRound:
        """Deals the open round."""
        request = await self.deal_request(table, wagers)
        return (await self.game.DealRound(request, timeout=10)).round

    async def place(self, *wagers: pb_game.NewWager, table: str = "t") -> bytes:
        """Places wagers in the open round."""
        dealt = await self.deal_request(table, wagers)
        request = pb_game.PlaceWagersRequest(
            request_id=dealt.request_id,
            round=dealt.round,
            opening_hash=dealt.opening_hash,
            wagers=dealt.wagers,
        )
        return await self.raw("PlaceWagers", request)

    async def set_state(
        self, state: pb.TableState.ValueType, table: str = "t"
    ) -> pb_op.SetTableStateResponse:
        """SetTableState."""
        request = pb_op.SetTableStateRequest(
            request_id=self.fresh(), table=f"tables/{table}", state=state
        )
        return await self.operator.SetTableState(request, timeout=10)

    async def size(self) -> int:
        """Number of leaves of the log."""
        status = await self.operator.GetStatus(pb_op.GetStatusRequest(), timeout=10)
        return status.log_size

    async def health(self, service: str = "") -> str:
        """The name of the health protocol's answer."""
        stub: Any = health_pb2_grpc.HealthStub(self.channel)
        found = await stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=10)
        return health_pb2.HealthCheckResponse.ServingStatus.Name(found.status)

    async def http(self, path: str) -> tuple[int, dict[str, str], bytes]:
        """GET: status, headers with lower-case names, body."""
        return await asyncio.to_thread(_get, f"http://{self.server.addresses['http']}{path}")

    async def until(self, kind: type[Record], **fields: object) -> None:
        """Waits until a record of this kind with these fields is in the log's file."""
        while not _has(stored_records(self.data_dir), kind, fields):
            await asyncio.sleep(0.05)

    async def stop(self) -> None:
        """Stops the server, and audits the whole log that it leaves."""
        note = (await self.audit.GetCheckpoint(pb_audit.GetCheckpointRequest())).checkpoint
        await self.channel.close()
        await self.server.stop()
        self.stopped = True
        report = audit_log(self.data_dir, note)
        found = {str(finding.code) for finding in report.findings}
        assert found == self.notices, report.findings
        assert report.valid


OPERATOR_METHODS = {"InstallGame", "CreateTable", "SetTableState", "VoidRound", "RetireShoe"}


def _get(url: str) -> tuple[int, dict[str, str], bytes]:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            headers = {name.lower(): value for name, value in answer.headers.items()}
            return answer.status, headers, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            headers = {name.lower(): value for name, value in error.headers.items()}
            return error.code, headers, error.read()


def _has(records: Sequence[Record], kind: type[Record], fields: dict[str, object]) -> bool:
    return any(
        isinstance(record, kind) and all(getattr(record, k) == v for k, v in fields.items())
        for record in records
    )


async def start_server(config: Config, source: EntropySource, *, bare: bool = True) -> Running:
    """Starts a server and connects to its loopback listener."""
    server = Server(config, source, bare=bare, boot_id="test")
    await server.start()
    return Running(server, config, grpc.aio.insecure_channel(server.addresses["grpc"]))
