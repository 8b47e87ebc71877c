"""Commands that write files: evidence of a round, and the whole log as tiles."""

import time
from pathlib import Path

import click
import grpc

from sealedshoe_server.cli.connection import TIMEOUT_S, channel_to, data_dir_option
from sealedshoe_server.export import ExportFailed, export_log
from sealedshoe_server.v1 import audit_service_pb2 as pb_audit
from sealedshoe_server.v1.audit_service_pb2_grpc import AuditServiceStub


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
            size = _exported(channel, directory)
        click.echo(f"{directory}: {size:,} records")
        if not follow:
            return
        time.sleep(every)


def _exported(channel: grpc.Channel, directory: Path) -> int:
    try:
        return export_log(channel, directory)
    except ExportFailed as error:
        raise click.ClickException(str(error)) from error
