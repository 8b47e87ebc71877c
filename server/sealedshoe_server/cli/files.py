"""Commands that write files: evidence of a round, and the whole log as tiles."""

import time
from collections.abc import Iterator
from pathlib import Path

import click
import grpc
from rich.progress import track

from sealedshoe_audit.cli.sources import DirectorySource
from sealedshoe_audit.errors import VerificationError
from sealedshoe_audit.log.checkpoint import Checkpoint, parse_checkpoint
from sealedshoe_audit.log.merkle import Frontier
from sealedshoe_audit.log.note import parse_note
from sealedshoe_audit.log.publication import edge_of, grown_files
from sealedshoe_audit.mirror.files import write_file
from sealedshoe_server.cli.connection import TIMEOUT_S, channel_to, data_dir_option
from sealedshoe_server.v1 import audit_service_pb2 as pb_audit
from sealedshoe_server.v1.audit_service_pb2_grpc import AuditServiceStub

EXPORT_TIMEOUT_S = 3600.0


@click.command()
@data_dir_option
@click.argument("round_name")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path))
@click.option("--player", default="", help="Open only this player's wagers.")
def evidence(data_dir: Path, round_name: str, output: Path, player: str) -> None:
    """Write the evidence file of a round (tables/7/rounds/12)."""
    with channel_to(data_dir) as channel:
        request = pb_audit.GetEvidenceRequest(round=round_name, player=player)
        found = AuditServiceStub(channel).GetEvidence(request, timeout=TIMEOUT_S)
    output.write_bytes(found.evidence)
    click.echo(f"{output}: {len(found.evidence):,} bytes")


@click.command()
@data_dir_option
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--follow", is_flag=True, help="Keep on: write what is new, again and again.")
@click.option(
    "--every", default=2.0, show_default=True, help="Seconds between looks, with --follow."
)
def export(data_dir: Path, directory: Path, follow: bool, every: float) -> None:
    """Write the log as a directory of tiles that any web server or bucket can serve.

    A directory that holds an earlier export is brought up to date; the checkpoint is always written last.
    """
    while True:
        with channel_to(data_dir) as channel:
            size = export_log(channel, directory)
        click.echo(f"{directory}: {size:,} records")
        if not follow:
            return
        time.sleep(every)


def export_log(channel: grpc.Channel, directory: Path) -> int:
    """Writes what the newest head to show adds; its checkpoint last.

    Returns:
        The number of records.

    Raises:
        click.ClickException: the records do not lead to the checkpoint, or the directory is in use.
    """
    if directory.exists() and any(directory.iterdir()) and not (directory / "checkpoint").exists():
        raise click.ClickException(f"{directory}: not empty, and no export")
    stub = AuditServiceStub(channel)
    note = stub.GetCheckpoint(pb_audit.GetCheckpointRequest(), timeout=TIMEOUT_S).checkpoint
    head = parse_checkpoint(parse_note(note).text)
    source = DirectorySource(directory)
    frontier = _exported(source, head)
    if frontier.size > head.size:
        raise click.ClickException(f"{directory}: has {frontier.size} records, the log {head.size}")
    records = _records(stub, frontier.size, head.size - frontier.size)
    shown = track(records, "exporting", head.size - frontier.size, transient=True)
    for path, data in grown_files(frontier, shown, source.read):
        write_file(directory / path, data)
    if frontier.root() != head.root:
        raise click.ClickException("the records do not lead to the checkpoint")
    write_file(directory / "checkpoint", note)
    return head.size


def _exported(source: DirectorySource, head: Checkpoint) -> Frontier:
    """Returns the edge of what is exported already."""
    note = source.read("checkpoint")
    if note is None:
        return Frontier()
    before = parse_checkpoint(parse_note(note).text)
    try:
        frontier = edge_of(source, before.size)
    except VerificationError as error:
        raise click.ClickException(f"the export is damaged: {error}") from error
    if before.origin != head.origin or frontier.root() != before.root:
        raise click.ClickException("the export is another log's, or damaged")
    return frontier


def _records(stub: AuditServiceStub, start: int, count: int) -> Iterator[bytes]:
    if not count:
        return
    request = pb_audit.ReadRecordsRequest(start=start, limit=count)
    for answer in stub.ReadRecords(request, timeout=EXPORT_TIMEOUT_S):
        yield from answer.envelopes
