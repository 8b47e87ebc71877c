"""A forged log as its published files: checkpoint, entry bundles and hash tiles (C2SP tlog-tiles)."""

from sealedshoe_audit.errors import Code
from sealedshoe_audit.verify.log import LogReport, verify_log
from sealedshoe_audit.verify.report import Report
from tests.audit.forge.log import ForgedLog
from tests.audit.forge.tree import root_of


class MemorySource:
    """A LogSource over a dict of files."""

    def __init__(self, files: dict[str, bytes]):
        self.files = files

    def read(self, path: str) -> bytes | None:
        """Returns a file's bytes."""
        return self.files.get(path)


def publish(log: ForgedLog) -> dict[str, bytes]:
    """Returns every file of a log of at most 65,536 leaves."""
    leaves = log.leaves
    files = {"checkpoint": log.note()}
    for n in range(0, len(leaves), 256):
        entries = log.entries[n : n + 256]
        bundle = b"".join(len(entry).to_bytes(2, "big") + entry for entry in entries)
        files[f"tile/entries/{_name(n // 256, len(entries))}"] = bundle
        files[f"tile/0/{_name(n // 256, len(entries))}"] = b"".join(leaves[n : n + 256])
    full = [root_of(leaves[n : n + 256]) for n in range(0, len(leaves) - 255, 256)]
    if full:
        files[f"tile/1/{_name(0, len(full))}"] = b"".join(full)
    return files


def _name(index: int, width: int) -> str:
    return f"{index:03d}" if width == 256 else f"{index:03d}.p/{width}"


def check_log(log: ForgedLog, now_us: int | None = None) -> LogReport:
    """Verifies a forged log as published."""
    source = MemorySource(publish(log))
    return verify_log(source, log.trust(), now_us or log.time_us, lambda *_: None)


def errors(report: Report) -> list[Code]:
    """Returns the codes that make a verdict invalid."""
    return [finding.code for finding in report.findings if finding.severity == "error"]


def notices(report: Report) -> list[Code]:
    """Returns the codes that are for people to weigh."""
    return [finding.code for finding in report.findings if finding.severity == "notice"]
