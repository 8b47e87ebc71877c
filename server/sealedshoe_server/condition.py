"""How a server is: what is wrong, in words; the whole, as GetStatus tells; gauges, for each scrape."""

from importlib.metadata import version

from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_rng import CertifiedRng
from sealedshoe_server.clock import Clock
from sealedshoe_server.cosigning import Cosigner
from sealedshoe_server.floor import Floor
from sealedshoe_server.key_changes import KeyMaster
from sealedshoe_server.log_writer import LogWriter
from sealedshoe_server.metrics import Metrics
from sealedshoe_server.shoes import ShoeMaker
from sealedshoe_server.v1.operator_service_pb2 import GetStatusResponse


class Condition:
    """Reads off how a process is."""

    def __init__(
        self,
        origin: str,
        floor: Floor,
        writer: LogWriter,
        rng: CertifiedRng,
        keys: KeyMaster,
        shoes: ShoeMaker,
        cosigner: Cosigner | None,
        clock: Clock,
        metrics: Metrics,
    ) -> None:
        """Takes what it looks at."""
        self._origin = origin
        self._floor = floor
        self._writer = writer
        self._rng = rng
        self._keys = keys
        self._shoes = shoes
        self._cosigner = cosigner
        self._clock = clock
        self._metrics = metrics

    def problems(self) -> list[str]:
        """Returns why rounds or shoes cannot be made; empty when all is well."""
        found: list[str] = []
        if self._rng.failure is not None:
            found.append(f"rng: {self._rng.failure}")
        if self._log_failure:
            found.append(f"log: {self._log_failure}")
        return found

    @property
    def _log_failure(self) -> str:
        halted = self._writer.halted
        return halted[1] if halted is not None else self._writer.failure or ""

    def before_scrape(self) -> None:
        """Sets the gauges that nobody sets otherwise."""
        age_us = self._clock.now_us() - self._writer.published.head.time_us
        self._metrics.checkpoint_age.set(age_us / 1_000_000)
        self._metrics.log_writable.set(not self._log_failure)
        if self._cosigner is not None:
            self._metrics.cosigning_lag.set(self._cosigner.lag_us() / 1_000_000)

    def status(self) -> GetStatusResponse:
        """Returns everything."""
        states = [live.state for live in self._floor.tables.values()]
        head, due = self._writer.published.head, self._writer.due
        keys, cosigner = self._keys.keys, self._cosigner
        return GetStatusResponse(
            origin=self._origin,
            version=version("sealedshoe"),
            log_size=head.head.size,
            tables_open=sum(s.state != pb.TableState.TABLE_STATE_CLOSED for s in states),
            rounds_open=sum(state.round is not None for state in states),
            rng_healthy=self._rng.failure is None,
            rng_failure=self._rng.failure or "",
            log_writable=not self._log_failure,
            log_failure=self._log_failure,
            checkpoint_age_ms=(self._clock.now_us() - head.time_us) // 1000,
            statement_key=b"" if keys.statement is None else keys.statement.public_key,
            checkpoint_key=keys.checkpoint or b"",
            sealing_key_id=self._shoes.sealing_key_id,
            key_change_at=0 if due is None else due.index + 1,
            cosigned_size=0 if cosigner is None else cosigner.newest.size,
            cosigning_lag_ms=0 if cosigner is None else cosigner.lag_us() // 1000,
        )
