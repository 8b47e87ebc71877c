"""Commands that write files: evidence of a round, and the whole log as tiles."""

from collections.abc import Iterator
from pathlib import Path

import click
import grpc
from rich.progress import track

from sealedshoe_audit.log.checkpoint import parse_checkpoint
from sealedshoe_audit.log.merkle import Frontier, leaf_hash
from sealedshoe_audit.log.note import parse_note
from sealedshoe_audit.log.tiles import TILE_WIDTH, bundle_path, pack_bundle, tile_path
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
def export(data_dir: Path, directory: Path) -> None:
    """Write the log as a directory of tiles that any web server can serve."""
    with channel_to(data_dir) as channel:
        size = export_log(channel, directory)
    click.echo(f"{directory}: {size:,} records")


def export_log(channel: grpc.Channel, directory: Path) -> int:
    """Writes checkpoint, tiles and bundles of the newest head; the checkpoint last.

    Returns:
        The number of records.

    Raises:
        click.ClickException: the records do not lead to the checkpoint, or the directory is in use.
    """
    if directory.exists() and any(directory.iterdir()):
        raise click.ClickException(f"{directory}: not empty")
    stub = AuditServiceStub(channel)
    note = stub.GetCheckpoint(pb_audit.GetCheckpointRequest(), timeout=TIMEOUT_S).checkpoint
    head = parse_checkpoint(parse_note(note).text)
    frontier = Frontier()
    levels: dict[int, list[bytes]] = {}
    bundle: list[bytes] = []
    records = _records(stub, head.size)
    for envelope in track(records, "exporting", head.size, transient=True):
        bundle.append(envelope)
        if len(bundle) == TILE_WIDTH:
            _write(directory / bundle_path(frontier.size // TILE_WIDTH), pack_bundle(bundle))
            bundle = []
        for level, index, node in frontier.append(leaf_hash(envelope)):
            if level % 8 == 0:
                _collect(directory, levels, level // 8, index, node)
    if bundle:
        path = bundle_path(head.size // TILE_WIDTH, len(bundle))
        _write(directory / path, pack_bundle(bundle))
    for level, hashes in levels.items():
        if hashes:
            index = (head.size >> 8 * level) // TILE_WIDTH
            _write(directory / tile_path(level, index, len(hashes)), b"".join(hashes))
    if (frontier.size, frontier.root()) != (head.size, head.root):
        raise click.ClickException("the records do not lead to the checkpoint")
    _write(directory / "checkpoint", note)
    return head.size


def _records(stub: AuditServiceStub, size: int) -> Iterator[bytes]:
    if not size:
        return
    request = pb_audit.ReadRecordsRequest(limit=size)
    for answer in stub.ReadRecords(request, timeout=EXPORT_TIMEOUT_S):
        yield from answer.envelopes


def _collect(
    directory: Path, levels: dict[int, list[bytes]], level: int, index: int, node: bytes
) -> None:
    hashes = levels.setdefault(level, [])
    hashes.append(node)
    if len(hashes) == TILE_WIDTH:
        _write(directory / tile_path(level, index // TILE_WIDTH), b"".join(hashes))
        levels[level] = []


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
