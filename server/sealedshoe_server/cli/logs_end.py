"""A log's end and the one that follows: close, succeed, recover."""

import time
from pathlib import Path

import click

from sealedshoe_audit.cli.sources import DirectorySource
from sealedshoe_audit.signing import public_bytes
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_rng import OsSource
from sealedshoe_server.cli.connection import TIMEOUT_S, channel_to, data_dir_option
from sealedshoe_server.cli.operate import actor_option, authorised_option, reason_option
from sealedshoe_server.client import new_request_id
from sealedshoe_server.config import Config, ConfigError, load_config
from sealedshoe_server.data_dir import DataDirError
from sealedshoe_server.keys import KeyFileError, load_signing_key
from sealedshoe_server.storage.interface import StorageFailed, StoreRefused
from sealedshoe_server.successor import Started, start_successor, successor_config
from sealedshoe_server.v1 import operator_service_pb2 as pb_op
from sealedshoe_server.v1.operator_service_pb2_grpc import OperatorServiceStub

path_option = click.Path(path_type=Path)


@click.command("close-log")
@data_dir_option
@click.option("--successor", default="", help="Origin of the log that follows, if one does.")
@click.option("--root-key", type=path_option, help="Its root key. [default: the data directory's]")
@actor_option
@authorised_option
@reason_option
def close_log(
    data_dir: Path,
    successor: str,
    root_key: Path | None,
    actor: str,
    authorised_by: str,
    reason: str,
) -> None:
    """End the log of the running server for good; every table must be closed."""
    public = b""
    if successor:
        try:
            public = public_bytes(load_signing_key(root_key or data_dir / "keys" / "root.pem"))
        except KeyFileError as error:
            raise click.ClickException(str(error)) from error
    request = pb_op.CloseLogRequest(
        request_id=new_request_id(),
        successor_origin=successor,
        successor_root_key=public,
        by=pb.Accountability(actor=actor, authorised_by=authorised_by, reason=reason),
    )
    with channel_to(data_dir) as channel:
        done = OperatorServiceStub(channel).CloseLog(request, timeout=TIMEOUT_S)
    click.echo(f"the log ends with leaf {done.record.index}")


@click.command()
@click.option("--config", type=path_option, help="Settings file of the old log (TOML).")
@data_dir_option
@click.option("--origin", help="Origin of the old log. [default: as configured]")
@click.option("--new-data-dir", required=True, type=path_option, help="For the new log; empty.")
@click.option("--new-origin", required=True, help="Its origin; another one.")
@click.option("--root-key", type=path_option, help="[default: the old data directory's]")
@click.option("--mirror", type=path_option, help="A mirror of the old log, if it has more of it.")
@click.option("--publish", type=path_option, help="Write the old log there, up to its end.")
def recover(
    config: Path | None,
    data_dir: Path,
    origin: str | None,
    new_data_dir: Path,
    new_origin: str,
    root_key: Path | None,
    mirror: Path | None,
    publish: Path | None,
) -> None:
    """Start the log that follows one that was closed, restored, or lost its end.

    The old log is never continued. The new one names its head and reveals every shoe that was open there.
    """
    given: dict[str, object] = {"data_dir": data_dir}
    if origin is not None:
        given["origin"] = origin
    try:
        old = load_config(config, given)
        new = successor_config(old, new_data_dir, new_origin)
        started = _start(old, new, root_key or data_dir / "keys" / "root.pem", mirror, publish)
    except (ConfigError, DataDirError, KeyFileError, StorageFailed, StoreRefused) as error:
        raise click.ClickException(str(error)) from error
    _tell(started, new_data_dir)


def _start(
    old: Config, new: Config, root_key: Path, mirror: Path | None, publish: Path | None
) -> Started:
    if old.origin == new.origin:
        raise DataDirError("the new log needs another origin: two logs never share one")
    source = None if mirror is None else DirectorySource(mirror)
    now_us = time.time_ns() // 1000
    root = load_signing_key(root_key)
    return start_successor(old, new, root, source, publish, now_us, OsSource().read)


def _tell(started: Started, new_data_dir: Path) -> None:
    before = started.predecessor
    click.echo(f"{before.origin} ends at {before.size:,} records ({before.reason})")
    if before.newest_size:
        lost = before.newest_size - before.size
        click.echo(f"  LOST: {lost:,} records of which only the head is known; the new log says so")
    click.echo(f"{started.origin} starts in {new_data_dir}")
    click.echo(
        f"  {started.revealed} open shoes revealed, {started.lost_seeds} of them without seed"
    )
    click.echo(f"  {started.stakes_returned} stakes returned")
    click.echo(f"next: sealedshoe serve --data-dir {new_data_dir} --origin {started.origin}")
