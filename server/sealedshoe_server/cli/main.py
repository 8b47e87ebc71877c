"""The command group, and the commands that run a server or ask how it is."""

import asyncio
from pathlib import Path

import click
import uvloop

from sealedshoe_rng import RngFailed
from sealedshoe_server.cli.connection import TIMEOUT_S, channel_to, data_dir_option
from sealedshoe_server.cli.demo import demo
from sealedshoe_server.cli.files import evidence, export
from sealedshoe_server.cli.keys import keys
from sealedshoe_server.cli.logs_end import close_log, recover
from sealedshoe_server.cli.operate import game, round_, shoe, table
from sealedshoe_server.cli.play import play
from sealedshoe_server.config import ConfigError, load_config
from sealedshoe_server.data_dir import DataDirError
from sealedshoe_server.errors import GameError
from sealedshoe_server.keys import KeyFileError
from sealedshoe_server.listeners import PortTaken
from sealedshoe_server.logs import configure_logs
from sealedshoe_server.server import serve as serve_process
from sealedshoe_server.storage.interface import StorageFailed, StoreRefused
from sealedshoe_server.v1.operator_service_pb2 import GetStatusRequest
from sealedshoe_server.v1.operator_service_pb2_grpc import OperatorServiceStub


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="sealedshoe")
def main() -> None:
    """Sealed Shoe: a game server whose every round anyone can replay."""


@main.command()
@click.option("--config", type=click.Path(path_type=Path), help="Settings file (TOML).")
@click.option("--data-dir", type=click.Path(path_type=Path), help="Data directory. [default: data]")
@click.option("--listen", help="Address and port of GameService. [default: 127.0.0.1:7440]")
@click.option("--local-listen", help="Operator and audit services, when --listen is public.")
@click.option("--http-listen", help="Metrics, health and log files. [default: 127.0.0.1:7442]")
@click.option("--origin", help="Name of the log. [default: localhost/sealedshoe]")
@click.option("--bare", is_flag=True, help="Install no games and open no tables.")
def serve(config: Path | None, bare: bool, **options: object) -> None:
    """Run a server; without any option it makes keys, games and tables in ./data."""
    given = {name: value for name, value in options.items() if value is not None}
    try:
        settings = load_config(config, given)
        configure_logs(settings.log_level)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(serve_process(settings, bare=bare))
    except (
        ConfigError,
        DataDirError,
        GameError,
        KeyFileError,
        OSError,
        PortTaken,
        RngFailed,
        StorageFailed,
        StoreRefused,
    ) as error:
        raise click.ClickException(str(error)) from error


@main.command()
@data_dir_option
def status(data_dir: Path) -> None:
    """Show how the running server is; exit 1 when it is not well."""
    with channel_to(data_dir) as channel:
        found = OperatorServiceStub(channel).GetStatus(GetStatusRequest(), timeout=TIMEOUT_S)
    rng = "healthy" if found.rng_healthy else f"FAILED: {found.rng_failure}"
    log = "writable" if found.log_writable else f"FAILED: {found.log_failure}"
    click.echo(f"version     {found.version}")
    click.echo(f"log         {found.origin}, {found.log_size:,} records, {log}")
    click.echo(f"checkpoint  {found.checkpoint_age_ms / 1000:.1f} s old")
    if found.cosigned_size:
        lag = f"{found.cosigning_lag_ms / 1000:.1f} s behind"
        click.echo(f"cosigned    {found.cosigned_size:,} records, {lag}")
    click.echo(f"rng         {rng}")
    click.echo(f"tables      {found.tables_open} open, {found.rounds_open} rounds open")
    if not (found.rng_healthy and found.log_writable):
        raise SystemExit(1)


for command in (
    close_log,
    demo,
    evidence,
    export,
    game,
    keys,
    play,
    recover,
    round_,
    shoe,
    table,
):
    main.add_command(command)
