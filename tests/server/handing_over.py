"""A log and its successor: recovered by the command line, both verified, and the hand-over between them."""

from dataclasses import dataclass
from pathlib import Path

from sealedshoe_audit.log.reader import LogSource
from sealedshoe_audit.trust import parse_trust
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.verify.handover import EndOfLog, check_handover
from sealedshoe_audit.verify.log import LogOptions, verify_log
from sealedshoe_audit.verify.report import Finding
from tests.server.commands import fails, succeeds
from tests.server.conftest import Start
from tests.server.reading import MemorySource, stored_entries, stored_records
from tests.server.rotating import checkpoint
from tests.server.running import Running

NEXT = "localhost/sealedshoe-2"
NOW_US = 4_000_000_000_000_000  # long after every record


class FileSource:
    """A published directory."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def read(self, path: str) -> bytes | None:
        file = self._root / path
        return file.read_bytes() if file.is_file() else None


@dataclass(frozen=True)
class Recovery:
    """Directories around one recovery, all beside the old one."""

    old: Path

    @property
    def new(self) -> Path:
        return self.old.parent / "next"

    @property
    def published(self) -> Path:
        return self.old.parent / "published"

    def arguments(self, *more: str | Path) -> list[str | Path]:
        """The command's words."""
        where = ("--data-dir", self.old, "--new-data-dir", self.new)
        return ["recover", *where, "--new-origin", NEXT, "--publish", self.published, *more]

    async def succeeds(self, *more: str | Path) -> str:
        """Recovers, and returns what was told."""
        return await succeeds(*self.arguments(*more))

    async def fails(self, *more: str | Path) -> str:
        """Tries to recover, and returns why not."""
        return await fails(*self.arguments(*more))

    def first(self) -> pb.LogStarted:
        """The successor's first record."""
        record = stored_records(self.new)[0]
        assert isinstance(record, pb.LogStarted)
        return record

    def revealed(self) -> dict[str, pb.PredecessorShoeRevealed]:
        """Shoes that the successor reveals, by table."""
        records = stored_records(self.new)
        return {r.table: r for r in records if isinstance(r, pb.PredecessorShoeRevealed)}

    async def served(self, start: Start) -> Running:
        """A server on the successor."""
        return await start(name="next", origin=NEXT)


def handed_over(
    old: LogSource, old_trust: bytes, new: LogSource, new_trust: bytes, size: int
) -> list[Finding]:
    """Both logs and the hand-over at the size that the new one names, by the auditor's own functions."""
    end = EndOfLog()
    at = LogOptions(stop_at=(size, end.take))
    before = verify_log(old, parse_trust(old_trust), NOW_US, lambda *_: None, at)
    trust = parse_trust(new_trust)
    after = verify_log(new, trust, NOW_US, lambda *_: None)
    assert after.fold is not None
    crossed = check_handover(end, after.fold, trust.root_key)
    return [*before.findings, *after.findings, *crossed]


def codes(findings: list[Finding]) -> list[str]:
    """Their codes."""
    return [str(finding.code) for finding in findings]


async def verified(recovery: Recovery, server: Running) -> list[str]:
    """Codes of what is found in the published old log, in the running successor, and between them."""

    source = MemorySource(stored_entries(recovery.new), await checkpoint(server))
    findings = handed_over(
        FileSource(recovery.published),
        (recovery.old / "trust.json").read_bytes(),
        source,
        (recovery.new / "trust.json").read_bytes(),
        recovery.first().predecessor.size,
    )
    return codes(findings)
