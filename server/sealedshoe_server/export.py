"""The log as a directory of static files, from a running server: whole, or what is new since last time."""

from collections.abc import Iterator
from pathlib import Path

import grpc
from rich.progress import track

from sealedshoe_audit.cli.sources import DirectorySource
from sealedshoe_audit.errors import VerificationError
from sealedshoe_audit.keeping.files import write_file
from sealedshoe_audit.log.checkpoint import Checkpoint, parse_checkpoint
from sealedshoe_audit.log.merkle import Frontier
from sealedshoe_audit.log.note import parse_note
from sealedshoe_audit.log.publication import edge_of, grown_files
from sealedshoe_server.v1 import audit_service_pb2 as pb_audit
from sealedshoe_server.v1.audit_service_pb2_grpc import AuditServiceStub

TIMEOUT_S = 10.0
EXPORT_TIMEOUT_S = 3600.0


class ExportFailed(Exception):
    """The directory cannot be used, or the records do not lead to the checkpoint."""


def export_log(channel: grpc.Channel, directory: Path) -> int:
    """Writes what the newest head to show adds; its checkpoint last.

    Returns:
        The number of records.

    Raises:
        ExportFailed: the records do not lead to the checkpoint, or the directory is in use.
    """
    if directory.exists() and any(directory.iterdir()) and not (directory / "checkpoint").exists():
        raise ExportFailed(f"{directory}: not empty, and no export")
    stub = AuditServiceStub(channel)
    note = stub.GetCheckpoint(pb_audit.GetCheckpointRequest(), timeout=TIMEOUT_S).checkpoint
    head = parse_checkpoint(parse_note(note).text)
    source = DirectorySource(directory)
    frontier = _exported(source, head)
    if frontier.size > head.size:
        raise ExportFailed(f"{directory}: has {frontier.size} records, the log {head.size}")
    records = _records(stub, frontier.size, head.size - frontier.size)
    shown = track(records, "exporting", head.size - frontier.size, transient=True)
    try:
        for path, data in grown_files(frontier, shown, source.read):
            write_file(directory / path, data)
    except VerificationError as error:
        raise ExportFailed(f"the export is damaged: {error}") from error
    if frontier.root() != head.root:
        raise ExportFailed("the records do not lead to the checkpoint")
    write_file(directory / "checkpoint", note)
    return head.size


def _exported(source: DirectorySource, head: Checkpoint) -> Frontier:
    """Returns the edge of what is exported already."""
    note = source.read("checkpoint")
    if note is None:
        return Frontier()
    try:
        before = parse_checkpoint(parse_note(note).text)
        frontier = edge_of(source, before.size)
    except VerificationError as error:
        raise ExportFailed(f"the export is damaged: {error}") from error
    if before.origin != head.origin or frontier.root() != before.root:
        raise ExportFailed("the export is another log's, or damaged")
    return frontier


def _records(stub: AuditServiceStub, start: int, count: int) -> Iterator[bytes]:
    if not count:
        return
    request = pb_audit.ReadRecordsRequest(start=start, limit=count)
    for answer in stub.ReadRecords(request, timeout=EXPORT_TIMEOUT_S):
        yield from answer.envelopes
