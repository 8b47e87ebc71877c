"""Finds the running server through its data directory, and turns refusals into messages."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import click
import grpc

from sealedshoe_server.data_dir import DataDirError, running_server
from sealedshoe_server.google_rpc import refusal_details

TIMEOUT_S = 10.0
data_dir_option = click.option(
    "--data-dir",
    type=click.Path(path_type=Path),
    default=Path("data"),
    show_default=True,
    help="Data directory of the server.",
)


@contextmanager
def channel_to(data_dir: Path) -> Generator[grpc.Channel]:
    """Opens a channel to the server on a data directory; a refusal ends the command with exit 1."""
    try:
        address = running_server(data_dir)["grpc"]
    except DataDirError as error:
        raise click.ClickException(str(error)) from error
    with grpc.insecure_channel(address) as channel:
        try:
            yield channel
        except grpc.RpcError as error:
            click.echo(f"refused: {refusal_text(error)}", err=True)
            sys.exit(1)


def refusal_text(error: grpc.RpcError) -> str:
    """Returns code, reason, message and fields of a refusal in one line."""
    if not isinstance(error, grpc.Call):
        return str(error)
    text = f"{error.code().name}: {error.details()}"
    for detail in refusal_details(error):
        if detail.DESCRIPTOR.name == "ErrorInfo":
            text = f"{detail.reason} ({text})"
        else:
            text += "".join(f"; {v.field}: {v.description}" for v in detail.field_violations)
    return text
