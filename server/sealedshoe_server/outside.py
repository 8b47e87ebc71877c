"""What a process asks of the world outside: cosignatures of witnesses, and time stamps."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import aiohttp

from sealedshoe_audit.errors import VerificationError
from sealedshoe_audit.log.note import VerifierKey
from sealedshoe_audit.log.policy import Policy, PolicyLog, parse_policy
from sealedshoe_audit.tsa import stamp_check
from sealedshoe_audit.verify.times import StampCheck
from sealedshoe_server.config import Config, ConfigError
from sealedshoe_server.cosigning import MAX_LINES, Cosigner
from sealedshoe_server.cosigning_rule import CosigningRule
from sealedshoe_server.log_writer import LogWriter
from sealedshoe_server.metrics import Metrics
from sealedshoe_server.storage.interface import Store, StoreRefused
from sealedshoe_server.time_stamping import TimeStamper, newest_stamp_us


class Outside:
    """Witnesses and time stamps of one process.

    Attributes:
        policy: of the witnesses; an empty one where none are configured.
        cosigner, rule: None where none are configured.
    """

    def __init__(
        self,
        config: Config,
        store: Store,
        writer: LogWriter,
        metrics: Metrics,
        now_us: Callable[[], int],
    ) -> None:
        """Reads the policy and the authority's certificate; nobody is asked yet.

        Raises:
            ConfigError: one of them cannot be used.
        """
        self._config = config
        self._store = store
        self._writer = writer
        self._metrics = metrics
        self._now_us = now_us
        self.policy = read_policy(config.witness_policy)
        self._check_stamp = _stamp_check(config.tsa_root)
        self.cosigner: Cosigner | None = None
        self.rule: CosigningRule | None = None
        if self.policy.fewest():
            self.cosigner = Cosigner(
                config.origin,
                self.policy,
                store,
                writer,
                metrics,
                now_us,
                config.witness_timeout_s,
                config.cosign_every_s,
            )
            lag = (config.cosigning_lag_s, config.cosigning_lag_rounds)
            self.rule = CosigningRule(self.cosigner, *lag)
        self._http: aiohttp.ClientSession | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def ask_witnesses(self, keys: Callable[[], tuple[VerifierKey, ...]]) -> None:
        """Asks what the witnesses hold, before anything is appended.

        Args:
            keys: every checkpoint key of this log.

        Raises:
            StoreRefused: one shows a larger or another tree under our own signature.
        """
        if self.cosigner is not None or self._check_stamp is not None:
            self._http = aiohttp.ClientSession()
        if self.cosigner is not None and self._http is not None:
            self.cosigner.keys = keys
            self.cosigner.connect(self._http)
            found = await self.cosigner.contradiction()
            if found is not None:
                raise StoreRefused(f"{found}. Start a successor with `sealedshoe recover`")

    def start(
        self,
        keep: Callable[[int, bytes], Awaitable[None]],
        on_faulty: Callable[[str, str], Awaitable[None]],
        record_stamp: Callable[[bytes, bytes], Awaitable[int]],
        newest_long_shoe: Callable[[], int],
    ) -> None:
        """Starts to ask for cosignatures and stamps.

        Args:
            keep: puts a cosigned head where it stays.
            on_faulty: told of a witness that contradicts itself.
            record_stamp: appends a stamp to the log.
            newest_long_shoe: leaf index of the newest opening of a shoe of several rounds.
        """
        if self.cosigner is not None:
            self.cosigner.keep = keep
            self.cosigner.on_faulty = on_faulty
            self._run(self.cosigner.run())
        if self._check_stamp is not None and self._http is not None:
            stamper = TimeStamper(
                self._config.tsa_url,
                self._check_stamp,
                self._config.stamp_every_s,
                self.newest_head,
                newest_long_shoe,
                record_stamp,
                self._metrics,
                self._now_us,
                newest_stamp_us(self._store, self._check_stamp),
            )
            self._run(stamper.run(self._http))

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(asyncio.create_task(work))

    def newest_head(self) -> tuple[int, bytes]:
        """Returns size and note of the head to show: cosigned where witnesses are configured."""
        published = self._writer.published
        if self.cosigner is None or not self.cosigner.newest.size:
            note = published.note if self.cosigner is None else b""
            return published.head.head.size, note
        return self.cosigner.newest.size, self.cosigner.newest.note

    def newest_note(self) -> bytes:
        """Returns the checkpoint to publish; before the first quorum, the signed one."""
        return self.newest_head()[1] or self._writer.published.note

    def policy_text(self, keys: tuple[VerifierKey, ...]) -> str:
        """Returns the policy with this log's keys."""
        logs = tuple(PolicyLog(key) for key in keys)
        policy = self.policy
        return Policy(logs, policy.witnesses, policy.groups, policy.quorum).text()

    async def stop(self) -> None:
        """Ends everything under way."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self.cosigner is not None:
            await self.cosigner.stop()
        if self._http is not None:
            await self._http.close()


def read_policy(path: str) -> Policy:
    """Reads a policy file; "" is an empty policy.

    Raises:
        ConfigError: it cannot be read, or a witness of it has no URL and the quorum needs it.
    """
    if not path:
        return Policy()
    try:
        policy = parse_policy(Path(path).read_bytes())
    except (OSError, VerificationError) as error:
        raise ConfigError(f"witness_policy: {path}: {error}") from error
    reachable = [witness.key for witness in policy.witnesses if witness.url]
    if not policy.is_met_by(reachable):
        raise ConfigError("witness_policy: the witnesses with a URL cannot make the quorum")
    if policy.fewest() > MAX_LINES:
        raise ConfigError(f"witness_policy: a note holds {MAX_LINES} cosignatures, no more")
    return policy


def _stamp_check(path: str) -> StampCheck | None:
    if not path:
        return None
    try:
        return stamp_check([Path(path).read_bytes()])
    except (OSError, ValueError) as error:
        raise ConfigError(f"tsa_root: {path}: {error}") from error
