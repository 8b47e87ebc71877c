"""A mirror that keeps following, with metrics. Needs the distribution's extra `services` for the metrics."""

import time
from collections.abc import Callable

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.reader import LogSource
from sealedshoe_audit.mirror.mirror import Mirror, Step

FATAL = (Code.SPLIT_VIEW, Code.ROLLBACK)


class MirrorMetrics:
    """What a mirror shows of itself."""

    def __init__(self, port: int, address: str) -> None:
        """Serves /metrics.

        Raises:
            ImportError: the extra `services` is not installed.
            OSError: the port is taken.
        """
        from prometheus_client import Counter, Gauge, start_http_server  # noqa: PLC0415 # an extra

        self.size = Gauge("sealedshoe_mirror_size", "Leaves mirrored.")
        self.seen = Gauge("sealedshoe_mirror_last_look_seconds", "Time of the last good look.")
        self.failures = Counter("sealedshoe_mirror_failures", "Looks that failed.", ["code"])
        start_http_server(port, address)


def keep_following(
    mirror: Mirror,
    source: LogSource,
    every_s: float,
    metrics: MirrorMetrics | None,
    told: Callable[[Step | Exception], None],
) -> None:
    """Looks at the log again and again; returns only by what it raises.

    Raises:
        VerificationError: SPLIT_VIEW or ROLLBACK: what is wrong will not mend itself.
    """
    while True:
        try:
            step = mirror.follow(source)
        except (VerificationError, OSError) as error:
            code = error.code if isinstance(error, VerificationError) else "UNREADABLE"
            if metrics is not None:
                metrics.failures.labels(str(code)).inc()
            told(error)
            if code in FATAL:
                raise
        else:
            if metrics is not None:
                metrics.size.set(step.new)
                metrics.seen.set_to_current_time()
            told(step)
        time.sleep(every_s)
