"""A mirror that keeps following goes on after what may pass, and stops at what will not."""

import socket
import urllib.request

import pytest

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.reader import LogSource
from sealedshoe_audit.mirror.mirror import Mirror, Step
from sealedshoe_audit.mirror.service import MirrorMetrics, keep_following
from tests.audit.forge.published import MemorySource
from tests.audit.mirrored import TRUST, files_at, forked_at, source_at


class Stopped(Exception):
    """The test has seen enough."""


class Scripted:
    """A log that is another at every look; an exception instead of a log breaks the connection."""

    def __init__(self, *looks: LogSource | Exception) -> None:
        self.looks = list(looks)
        self.told: list[Step | Code | str] = []

    def read(self, path: str) -> bytes | None:
        """Returns a file of the log as it is at this look."""
        now = self.looks[0]
        if isinstance(now, Exception):
            raise now
        return now.read(path)

    def tell(self, found: Step | Exception) -> None:
        """Notes what a look brought; ends the test behind the last."""
        name = found.code if isinstance(found, VerificationError) else str(found)
        self.told.append(found if isinstance(found, Step) else name)
        self.looks.pop(0)
        if not self.looks:
            raise Stopped


def followed(mirror: Mirror, script: Scripted, metrics: MirrorMetrics | None = None) -> None:
    """Follows until the script ends."""
    with pytest.raises(Stopped):
        keep_following(mirror, script, 0, metrics, script.tell)


@pytest.fixture
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Mirror:
    """A mirror that starts before the first leaf."""
    return Mirror(tmp_path_factory.mktemp("mirror"), TRUST)


def test_looks_that_fail_are_told_and_the_mirror_goes_on(mirror: Mirror) -> None:
    missing = MemorySource({"checkpoint": files_at(300)["checkpoint"]})
    script = Scripted(source_at(5), MemorySource({}), OSError("reset"), missing, source_at(300))
    followed(mirror, script)
    expected = [Step(0, 5), Code.MISSING_FILE, "reset", Code.MISSING_FILE, Step(5, 300)]
    assert script.told == expected


@pytest.mark.parametrize(
    ("bad", "code"),
    [(source_at(300, forked_at(40)), Code.SPLIT_VIEW), (source_at(4), Code.ROLLBACK)],
)
def test_a_fork_or_a_rollback_is_told_and_stops_the_mirror(
    mirror: Mirror, bad: LogSource, code: Code
) -> None:
    script = Scripted(source_at(100), bad, source_at(300))
    with pytest.raises(VerificationError) as caught:
        keep_following(mirror, script, 0, None, script.tell)
    assert caught.value.code is code
    assert script.told == [Step(0, 100), code]
    assert mirror.size == 100


def test_metrics_show_the_size_and_count_failures_by_code(mirror: Mirror) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    metrics = MirrorMetrics(port, "127.0.0.1")
    script = Scripted(source_at(5), MemorySource({}), OSError("reset"), OSError("reset"))
    followed(mirror, script, metrics)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    assert "sealedshoe_mirror_size 5.0" in lines
    assert 'sealedshoe_mirror_failures_total{code="MISSING_FILE"} 1.0' in lines
    assert 'sealedshoe_mirror_failures_total{code="UNREADABLE"} 2.0' in lines
    seen = [line for line in lines if line.startswith("sealedshoe_mirror_last_look_seconds ")]
    assert float(seen[0].split()[1]) > 0
