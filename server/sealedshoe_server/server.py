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
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import structlog

from sealedshoe_audit.keeping.head_archive import HeadArchive
from sealedshoe_audit.log.note import TYPE_ED25519, VerifierKey
from sealedshoe_audit.records import open_record
from sealedshoe_audit.signing import public_bytes
from sealedshoe_audit.trust import Trust
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_rng import CertifiedRng, DeviceSource, EntropySource, OsSource, RngFailed
from sealedshoe_server.clock import Clock
from sealedshoe_server.condition import Condition
from sealedshoe_server.config import Config
from sealedshoe_server.data_dir import DataDir, start_record
from sealedshoe_server.errors import GameError
from sealedshoe_server.floor import Floor
from sealedshoe_server.games import Games
from sealedshoe_server.guard import Guard, check_guard
from sealedshoe_server.head_watch import HeadWatch
from sealedshoe_server.heads import CheckpointKey, HeadKeeper, HeadSigner
from sealedshoe_server.house import Event, House
from sealedshoe_server.http import LogFiles, make_application
from sealedshoe_server.key_changes import (
    KeyMaster,
    checkpoint_keys,
    checkpoint_vkeys,
    read_log_keys,
)
from sealedshoe_server.listeners import AUDIT, GAME, OPERATOR, Listeners
from sealedshoe_server.log_writer import LogWriter
from sealedshoe_server.manifest import manifest_digest
from sealedshoe_server.metrics import Metrics
from sealedshoe_server.opening_stock import open_stock
from sealedshoe_server.outside import Outside
from sealedshoe_server.rounds import Rounds
from sealedshoe_server.sealing import Sealer
from sealedshoe_server.services.audit import AuditService
from sealedshoe_server.services.game import GameService
from sealedshoe_server.services.operator import OperatorService
from sealedshoe_server.services.registration import Layers
from sealedshoe_server.shoes import ShoeMaker
from sealedshoe_server.statements import Statements
from sealedshoe_server.storage.interface import StoreRefused
from sealedshoe_server.storage.sqlite import SqliteStore
from sealedshoe_server.tally import Tally
from sealedshoe_server.upkeep import open_missing_rounds, retire_idle_shoes

HOUSEKEEPING_S = 1.0
EXPIRY_S = 3600.0
WATCHDOG_S = 10.0  # beyond drain and grace: a process that hangs at shutdown is ended
DAY_US = 86_400 * 1_000_000


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
            DataDirError, KeyFileError, StoreRefused, StorageFailed, RngFailed: it must not or cannot
                run there.
        """
        self._config = config
        self._bare = bare
        self._log = structlog.get_logger()
        self._metrics = Metrics()
        self._data = DataDir(config.data_dir)
        self._data.lock()
        try:
            self._open(os_source, boot_id)
        except BaseException:
            self._data.unlock()
            raise
        self._executor = ThreadPoolExecutor(1, "log")
        self._listeners = Listeners(config)
        self._tasks: list[asyncio.Task[None]] = []
        self._to_close: list[Callable[[], Awaitable[None]]] = []
        self._lost_seeds: set[str] = set()
        self._trust_is_written = True
        self._draining = False

    def _open(self, os_source: EntropySource, boot_id: str) -> None:
        config = self._config
        self._data.refuse_keys_without_log()
        self._store = SqliteStore(self._data.log, config.origin)
        head = self._store.head()
        self._is_new = head.head.size == 0
        second = [DeviceSource(Path(path)) for path in config.second_sources]
        self.rng = CertifiedRng(os_source, second, boot_id)
        if self._is_new and self.rng.failure is not None:
            raise RngFailed(f"no log is started while the RNG fails: {self.rng.failure}")
        self._guard = Guard(config.guard_path)
        check_guard(self._guard, self._store, config.origin)
        _refuse_closed(self._store, head.head.size)
        self._keys = self._data.load_or_make_keys(self._is_new, self.rng.random_bytes)
        self._clock = Clock(time.time_ns, time.monotonic_ns, head.time_us)

    async def start(self) -> None:
        """Starts the writer, the log if it is new, the tables, and last the listeners.

        Raises:
            PortTaken: another process listens there.
        """
        try:
            await self._start()
        except BaseException:
            await self._listeners.close_grpc()
            await self._release()
            raise

    async def _start(self) -> None:
        origin = self._config.origin
        self._signer = HeadSigner(origin, self._checkpoint_keys())
        archive = HeadArchive(self._config.heads_path)
        self._writer = LogWriter(
            self._store,
            self._executor,
            self._signer.sign,
            self._clock.now_us,
            self._metrics,
            HeadKeeper(self._guard, archive).keep,
        )
        self._outside = Outside(
            self._config, self._store, self._writer, self._metrics, self._clock.now_us
        )
        self._to_close.append(self._outside.stop)
        await self._outside.ask_witnesses(self._every_vkey)
        self._writer_task = asyncio.create_task(self._writer.run())
        self._tasks.append(self._writer_task)
        self._games = Games(self._store)
        statements = Statements(self._keys.statement)
        self._house = House(
            origin, self._writer, statements, self._games, self.rng, self._clock, self._metrics
        )
        self._writer.on_duplicate_seed = lambda: self._house.rng_failed("a seed was drawn twice")
        await self._start_new_log()
        sealer = Sealer(self._keys.sealing)
        self._shoes = ShoeMaker(origin, self.rng, sealer, self._house.rng_failed)
        self._key_master = KeyMaster(
            origin,
            self._store,
            self._writer,
            self._signer,
            statements,
            self._shoes,
            self._data.load_keys,
            self._clock.now_us,
        )
        self._key_master.refresh()
        self._publish_trust()
        self._key_master.on_change = self._publish_trust_or_later
        await self._record_start()
        self.floor = Floor(
            origin,
            self._store,
            self._writer,
            self._shoes,
            statements,
            self._games,
            self._clock,
            Tally(self._metrics, self._lost_seeds.add),
            self._outside.rule,
        )
        self._archive = archive
        self._watch = HeadWatch(archive, tuple(w.key for w in self._outside.policy.witnesses))
        self._writer.on_publish = self._watch.grew
        self._outside.start(
            self._keep_cosigned,
            self._house.witness_faulty,
            self._house.stamp,
            lambda: self.floor.newest_long_shoe,
        )
        self._condition = Condition(
            self._config.origin,
            self.floor,
            self._writer,
            self.rng,
            self._key_master,
            self._shoes,
            self._outside.cosigner,
            self._clock,
            self._metrics,
        )
        if not self._bare:
            await open_stock(self._house, self.floor, self._games)
        await open_missing_rounds(self.floor)
        self._housekeeping = asyncio.create_task(self._keep_house())
        self._tasks.append(self._housekeeping)
        await self._listen()
        self._log.info("serving", origin=origin, **self.addresses)

    @property
    def addresses(self) -> dict[str, str]:
        """Where the process listens: "grpc", "http" and, if there is one, "public"."""
        return self._listeners.addresses

    def _checkpoint_keys(self) -> tuple[CheckpointKey, ...]:
        if self._is_new:
            return (CheckpointKey(0, self._keys.checkpoint),)
        return checkpoint_keys(read_log_keys(self._store), self._keys)

    def _every_vkey(self) -> tuple[VerifierKey, ...]:
        """Every checkpoint key of the log, revoked ones too: what they signed is ours."""
        origin = self._config.origin
        return tuple(
            VerifierKey(origin, TYPE_ED25519, public_bytes(key.private_key))
            for key in self._signer.keys
        )

    def _publish_trust(self) -> None:
        log_keys, origin = self._key_master.keys, self._config.origin
        keys = checkpoint_vkeys(log_keys, origin)
        self._trust = Trust(origin, log_keys.root, keys).under(self._outside.policy)
        self._data.publish_trust(self._trust)

    def _publish_trust_or_later(self) -> None:
        """The files are a copy: while they cannot be written the log goes on; housekeeping tries again."""
        try:
            self._publish_trust()
            self._trust_is_written = True
        except OSError as error:
            self._trust_is_written = False
            self._log.error("trust.json", problem=error.strerror)

    def _publish_late_trust(self) -> None:
        if not self._trust_is_written:
            self._publish_trust_or_later()

    def _texts(self) -> dict[str, str]:
        texts = {"trust.json": self._trust.text()}
        if self._outside.cosigner is not None:
            texts["policy"] = self._outside.policy_text(self._trust.checkpoint_keys)
        return texts

    async def _keep_cosigned(self, size: int, note: bytes) -> None:
        """Keeps a cosigned head on the store's own thread, and tells who watches."""

        def keep() -> None:
            self._store.keep_cosigned(size, note)
            self._archive.keep([note])

        await asyncio.get_running_loop().run_in_executor(self._executor, keep)
        self._watch.grew()

    async def _start_new_log(self) -> None:
        if self._is_new:
            root_key = self._data.root_key()
            now_us = self._clock.now_us()
            origin, manifest = self._config.origin, manifest_digest()
            record = start_record(origin, self._keys, root_key, manifest, now_us)
            await self._house.append(record)

    async def _record_start(self) -> None:
        manifest = manifest_digest()
        await self._house.event(Event.EVENT_CLASS_SERVER_STARTED, "server", "", manifest.hex())

    async def _listen(self) -> None:
        config = self._config
        random_bytes = self.rng.random_bytes
        layers = Layers(
            self._metrics,
            lambda: random_bytes(8).hex(),
            config.default_deadline_s,
            config.max_message_bytes,
        )
        rounds = Rounds(self._store, self._writer, self._shoes, self._outside.cosigner)
        game = GameService(
            self.floor,
            self._games,
            self._store,
            self._writer,
            rounds,
            random_bytes,
            self._metrics,
            config.watch_buffer,
        )
        operator = OperatorService(
            self.floor, self._games, self._house, self._key_master, self._condition.status
        )
        audit = AuditService(
            self._store, self._writer, rounds, self._watch, self._outside.newest_note
        )
        await self._listeners.open_grpc(
            layers.handlers(GAME, game),
            [layers.handlers(OPERATOR, operator), layers.handlers(AUDIT, audit)],
        )
        application = make_application(
            LogFiles(self._store, self._writer),
            self._outside.newest_note,
            self._texts,
            self._metrics.registry,
            self._condition.before_scrape,
            self.problems,
        )
        await self._listeners.open_http(application)
        self._house.on_health = self._health_changed
        await self._listeners.set_health(not self.problems())
        self._data.announce(self.addresses)

    def problems(self) -> list[str]:
        """Returns why the server is not healthy; empty when it is."""
        return [*self._condition.problems(), *(["draining"] if self._draining else [])]

    def _health_changed(self) -> None:
        self._health_task = asyncio.ensure_future(self._listeners.set_health(not self.problems()))

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
                await retire_idle_shoes(self.floor, self._clock.now_us())
                self._key_master.fill_up()
            self._publish_late_trust()
            await self._listeners.set_health(not self.problems())
            if loop.time() >= expire_at:
                expire_at = loop.time() + EXPIRY_S
                before_us = self._clock.now_us() - self._config.answers_kept_days * DAY_US
                await self._writer.expire_answers(before_us)

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
        self.floor.drain()
        self._watch.drain()
        await self._listeners.close_grpc()
        self._housekeeping.cancel()
        await self.floor.settle_down()
        self._writer.stop()
        await self._writer_task
        self._publish_late_trust()
        await self._release()
        watchdog.cancel()
        self._log.info("stopped")

    async def _release(self) -> None:
        """Gives up all that the process holds, as far as it got."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._listeners.close_http()
        for closing in self._to_close:
            await closing()
        self._executor.shutdown()
        self._store.close()
        self._data.withdraw()
        self._data.unlock()


def _refuse_closed(store: SqliteStore, size: int) -> None:
    """A closed log stays closed."""
    if size and isinstance(open_record(store.read(size - 1, 1)[0]), pb.LogClosed):
        raise StoreRefused("the log is closed for good: start its successor on another directory")


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
