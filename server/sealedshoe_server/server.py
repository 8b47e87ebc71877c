"""The composition root of a server process: builds, wires, serves, and winds down in order.

health NOT_SERVING -> balancers notice -> no new calls -> calls under way end -> the writer empties
-> the store closes
"""

import asyncio
import contextlib
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

import grpc
import structlog
from aiohttp import web
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from sealedshoe_audit.log.note import sign_note
from sealedshoe_audit.trust import Trust
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_rng import CertifiedRng, DeviceSource, EntropySource, OsSource
from sealedshoe_server import answers
from sealedshoe_server.clock import Clock
from sealedshoe_server.config import Config
from sealedshoe_server.data_dir import DataDir, start_record, trust_of
from sealedshoe_server.dealing import decide
from sealedshoe_server.errors import GameError
from sealedshoe_server.floor import Floor
from sealedshoe_server.games import Games, game_record
from sealedshoe_server.house import SERVER, Event, House
from sealedshoe_server.http import LogFiles, make_application
from sealedshoe_server.log_writer import LogWriter
from sealedshoe_server.manifest import manifest_digest
from sealedshoe_server.metrics import Metrics
from sealedshoe_server.opening_stock import definition_files, table_settings
from sealedshoe_server.rounds import Rounds
from sealedshoe_server.sealing import Sealer
from sealedshoe_server.services.audit import AuditService
from sealedshoe_server.services.game import GameService
from sealedshoe_server.services.operator import OperatorService
from sealedshoe_server.services.registration import Layers
from sealedshoe_server.shoes import ShoeMaker
from sealedshoe_server.statements import Statements
from sealedshoe_server.storage.interface import Request
from sealedshoe_server.storage.sqlite import SqliteStore
from sealedshoe_server.tally import Tally
from sealedshoe_server.v1 import (
    audit_service_pb2,
    game_service_pb2,
    operator_service_pb2,
)

GAME = game_service_pb2.DESCRIPTOR.services_by_name["GameService"]
OPERATOR = operator_service_pb2.DESCRIPTOR.services_by_name["OperatorService"]
AUDIT = audit_service_pb2.DESCRIPTOR.services_by_name["AuditService"]
HOUSEKEEPING_S = 1.0
EXPIRY_S = 3600.0
WATCHDOG_S = 10.0  # beyond drain and grace: a process that hangs at shutdown is ended
DAY_US = 86_400 * 1_000_000


class PortTaken(Exception):
    """A port is in use: never shared with a forgotten old process."""


class Server:
    """One server process."""

    def __init__(
        self, config: Config, os_source: EntropySource, *, bare: bool, boot_id: str
    ) -> None:
        """Opens the data directory and takes everything up from it.

        Args:
            os_source: the operating system's entropy.
            bare: install no games and open no tables.

        Raises:
            DataDirError, KeyFileError, StoreRefused, StorageFailed: it must not or cannot run there.
        """
        self._config = config
        self._bare = bare
        self._log = structlog.get_logger()
        self._metrics = Metrics()
        self._data = DataDir(config.data_dir)
        self._data.lock()
        self._data.refuse_keys_without_log()
        self._store = SqliteStore(self._data.log, config.origin)
        self._is_new = self._store.head().head.size == 0
        second = [DeviceSource(Path(path)) for path in config.second_sources]
        self.rng = CertifiedRng(os_source, second, boot_id)
        self._keys = self._data.load_or_make_keys(self._is_new, self.rng.random_bytes)
        newest_us = self._store.head().time_us
        self._clock = Clock(time.time_ns, time.monotonic_ns, newest_us)
        self._statements = Statements(self._keys.statement)
        self._health = health.aio.HealthServicer()
        self._executor = ThreadPoolExecutor(1, "log")
        self._draining = False
        self._background: set[asyncio.Future[None]] = set()

    def _sign_head(self, text: str) -> bytes:
        return sign_note(text, self._config.origin, self._keys.checkpoint)

    async def start(self) -> None:
        """Starts the writer, the log if it is new, the tables, and last the listeners."""
        origin = self._config.origin
        self._writer = LogWriter(
            self._store, self._executor, self._sign_head, self._clock.now_us, self._metrics
        )
        self._writer_task = asyncio.create_task(self._writer.run())
        self._games = Games(self._store)
        self._house = House(
            origin,
            self._writer,
            self._statements,
            self._games,
            self.rng,
            self._clock,
            self._metrics,
        )
        self._house.on_health = self._refresh_health
        self._writer.on_duplicate_seed = lambda: self._house.rng_failed("a seed was drawn twice")
        await self._start_log()
        self._trust = self._publish_trust()
        self._shoes = ShoeMaker(
            origin, self.rng, Sealer(self._keys.sealing), self._house.rng_failed
        )
        self._tally = Tally(self._metrics, self._seed_unavailable)
        self._lost_seeds: set[str] = set()
        self.floor = Floor(
            origin,
            self._store,
            self._writer,
            self._shoes,
            self._statements,
            self._games,
            self._clock,
            self._tally,
        )
        if not self._bare:
            await self._open_stock()
        await self.floor.open_missing_rounds()
        self._housekeeping = asyncio.create_task(self._keep_house())
        await self._listen()
        self._log.info("serving", origin=origin, **self.addresses)

    async def _start_log(self) -> None:
        manifest = manifest_digest()
        if self._is_new:
            root_key = self._data.root_key()
            now_us = self._clock.now_us()
            record = start_record(self._config.origin, self._keys, root_key, manifest, now_us)
            await self._house.append(record)
        await self._house.event(Event.EVENT_CLASS_SERVER_STARTED, "server", "", manifest.hex())

    def _publish_trust(self) -> Trust:
        trust = trust_of(self._store.read(0, 1)[0], self._keys)
        self._data.publish_trust(trust)
        return trust

    async def _open_stock(self) -> None:
        """Gives a log without tables its games and tables; goes on where a crash left it."""
        stock = definition_files()
        if any(name not in stock for name in self.floor.tables):
            return
        fresh = len(self.floor.tables) < len(stock) and self._store.head().head.size < 64
        if not fresh:
            return
        for game_id, text in stock.items():
            record = game_record(text, self._config.origin, self._clock.now_us(), SERVER)
            with contextlib.suppress(GameError):
                await self._house.install(record, None, lambda *_: b"")
            if game_id not in self.floor.tables and self.rng.failure is None:
                await self._open_table(game_id)

    async def _open_table(self, game_id: str) -> None:
        game = self._games.definition(game_id, 1)
        settings = table_settings(game)
        request = Request("server", f"opening-stock-{game_id}", b"")
        await self.floor.create(
            game_id,
            request,
            lambda around: decide.create_table(around, game_id, settings, game, SERVER),
            answers.created_table,
        )

    def _seed_unavailable(self, table: str) -> None:
        """Once a table and process: the housekeeping records it."""
        self._lost_seeds.add(table)

    async def _listen(self) -> None:
        config = self._config
        layers = Layers(
            self._metrics,
            lambda: self.rng.random_bytes(8).hex(),
            config.default_deadline_s,
            config.max_message_bytes,
        )
        rounds = Rounds(self._store, self._writer, self._shoes, self._sign_head)
        game = GameService(
            self.floor,
            self._games,
            self._store,
            self._writer,
            rounds,
            self.rng.random_bytes,
            self._metrics,
            config.watch_buffer,
        )
        operator = OperatorService(self.floor, self._games, self._house, self._status)
        audit = AuditService(self._store, self._writer, rounds)
        handlers = [
            layers.handlers(GAME, game),
            layers.handlers(OPERATOR, operator),
            layers.handlers(AUDIT, audit),
        ]
        self._servers: list[grpc.aio.Server] = []
        local = config.local_listen if config.is_public else config.listen
        address = await self._serve(local, handlers, None)
        self.addresses = {"grpc": address}
        if config.is_public:
            public = await self._serve(config.listen, handlers[:1], _credentials(config))
            self.addresses["public"] = public
        self.addresses["http"] = await self._serve_http()
        self._refresh_health()
        self._data.announce(self.addresses)

    async def _serve(
        self,
        address: str,
        handlers: list[grpc.GenericRpcHandler],
        credentials: grpc.ServerCredentials | None,
    ) -> str:
        server = grpc.aio.server(options=_server_options(self._config))
        server.add_generic_rpc_handlers(tuple(handlers))
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        if credentials is None:
            names = (GAME.full_name, OPERATOR.full_name, AUDIT.full_name)
            shown = (*names, health.SERVICE_NAME, reflection.SERVICE_NAME)
            reflection.enable_server_reflection(shown, server)
        try:
            if credentials is None:
                port = server.add_insecure_port(address)
            else:
                port = server.add_secure_port(address, credentials)
        except RuntimeError as error:
            raise PortTaken(f"{address}: cannot be listened on; another process has it") from error
        await server.start()
        self._servers.append(server)
        return f"{address.rpartition(':')[0]}:{port}"

    async def _serve_http(self) -> str:
        files = LogFiles(self._store, self._writer)
        application = make_application(
            files,
            self._writer,
            self._trust.text(),
            self._metrics.registry,
            self._before_scrape,
            self.problems,
        )
        self._http = web.AppRunner(application, access_log=None)
        await self._http.setup()
        host, _, port = self._config.http_listen.rpartition(":")
        try:
            await web.TCPSite(self._http, host, int(port), reuse_port=False).start()
        except OSError as error:
            raise PortTaken(f"{self._config.http_listen}: {error.strerror}") from error
        return f"{host}:{self._http.addresses[0][1]}"

    def problems(self) -> list[str]:
        """Returns why the server is not healthy; empty when it is."""
        found: list[str] = []
        if self.rng.failure is not None:
            found.append(f"rng: {self.rng.failure}")
        if self._writer.failure is not None:
            found.append(f"log: {self._writer.failure}")
        if self._draining:
            found.append("draining")
        return found

    def _refresh_health(self) -> None:
        serving = health_pb2.HealthCheckResponse.SERVING
        state = health_pb2.HealthCheckResponse.NOT_SERVING if self.problems() else serving
        for name in ("", GAME.full_name, OPERATOR.full_name, AUDIT.full_name):
            task = asyncio.ensure_future(self._health.set(name, state))
            self._background.add(task)
            task.add_done_callback(self._background.discard)

    def _before_scrape(self) -> None:
        age_us = self._clock.now_us() - self._writer.published.head.time_us
        self._metrics.checkpoint_age.set(age_us / 1_000_000)
        self._metrics.log_writable.set(self._writer.failure is None)

    def _status(self) -> operator_service_pb2.GetStatusResponse:
        states = [live.state for live in self.floor.tables.values()]
        head = self._writer.published.head
        return operator_service_pb2.GetStatusResponse(
            origin=self._config.origin,
            version=version("sealedshoe"),
            log_size=head.head.size,
            tables_open=sum(s.state != pb.TableState.TABLE_STATE_CLOSED for s in states),
            rounds_open=sum(state.round is not None for state in states),
            rng_healthy=self.rng.failure is None,
            rng_failure=self.rng.failure or "",
            log_writable=self._writer.failure is None,
            log_failure=self._writer.failure or "",
            checkpoint_age_ms=(self._clock.now_us() - head.time_us) // 1000,
        )

    async def _keep_house(self) -> None:
        """Once a second: events to record, idle shoes, health; once an hour: expired answers."""
        loop = asyncio.get_running_loop()
        expire_at = loop.time()
        while True:
            await asyncio.sleep(HOUSEKEEPING_S)
            self._clock.now_us()
            with contextlib.suppress(GameError):
                await self._house.look_around()
                await self._record_lost_seeds()
                await self.floor.retire_idle_shoes()
            self._refresh_health()
            if loop.time() >= expire_at:
                expire_at = loop.time() + EXPIRY_S
                before_us = self._clock.now_us() - self._config.answers_kept_days * DAY_US
                await loop.run_in_executor(self._executor, self._store.expire_answers, before_us)

    async def _record_lost_seeds(self) -> None:
        for table in sorted(self._lost_seeds):
            event = Event.EVENT_CLASS_SEED_UNAVAILABLE
            await self._house.event(event, "sealing", table, "seed unavailable")
            self._lost_seeds.discard(table)

    async def stop(self) -> None:
        """Winds down in order; every committed round stays, every caller gets what was committed."""
        config = self._config
        watchdog = threading.Timer(config.drain_s + config.grace_s + WATCHDOG_S, os._exit, (1,))
        watchdog.daemon = True
        watchdog.start()
        self._draining = True
        await self._health.enter_graceful_shutdown()
        await asyncio.sleep(config.drain_s)
        await asyncio.gather(*(server.stop(config.grace_s) for server in self._servers))
        self._housekeeping.cancel()
        await self.floor.settle_down()
        self._writer.stop()
        await self._writer_task
        await self._http.cleanup()
        self._executor.shutdown()
        self._store.close()
        self._data.withdraw()
        watchdog.cancel()
        self._log.info("stopped")


def _credentials(config: Config) -> grpc.ServerCredentials:
    """Mutual TLS: a client without a certificate of the CA does not get past the handshake."""
    key = Path(config.tls_key).read_bytes()
    chain = Path(config.tls_certificate).read_bytes()
    authority = Path(config.tls_client_ca).read_bytes()
    return grpc.ssl_server_credentials(
        [(key, chain)], root_certificates=authority, require_client_auth=True
    )


def _server_options(config: Config) -> list[tuple[str, int]]:
    """Ports are not shared (SO_REUSEPORT off); requests above the limit get a reason from us first."""
    return [
        ("grpc.so_reuseport", 0),
        ("grpc.max_receive_message_length", 4 * config.max_message_bytes),
        ("grpc.max_metadata_size", 16_384),
        ("grpc.keepalive_time_ms", 60_000),
        ("grpc.keepalive_timeout_ms", 10_000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.min_recv_ping_interval_without_data_ms", 20_000),
        ("grpc.http2.max_ping_strikes", 2),
    ]


def boot_id() -> str:
    """Returns the machine's boot id."""
    return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()


async def serve(config: Config, *, bare: bool) -> None:
    """Serves until SIGTERM or SIGINT."""
    server = Server(config, OsSource(), bare=bare, boot_id=boot_id())
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    await server.start()
    await stopping.wait()
    await server.stop()
