"""Keys over time: new key files, the root key's word over a change, and the change itself."""

import json
from pathlib import Path

import click

from sealedshoe_audit.records import key_change_message
from sealedshoe_audit.signing import public_bytes
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_rng import OsSource
from sealedshoe_server.cli.connection import TIMEOUT_S, channel_to, data_dir_option
from sealedshoe_server.keys import KeyFileError, add_key, load_keys, load_signing_key
from sealedshoe_server.sealing import Sealer
from sealedshoe_server.v1 import operator_service_pb2 as pb_op
from sealedshoe_server.v1.operator_service_pb2_grpc import OperatorServiceStub

PURPOSES = {
    "statement": pb.KeyPurpose.KEY_PURPOSE_STATEMENT,
    "checkpoint": pb.KeyPurpose.KEY_PURPOSE_CHECKPOINT,
    "sealing": pb.KeyPurpose.KEY_PURPOSE_SEALING,
}


@click.group()
def keys() -> None:
    """Keys: prepare, authorise and apply a change, without stopping the server."""


@keys.command()
@data_dir_option
@click.argument("purpose", type=click.Choice(list(PURPOSES)))
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path))
@click.option(
    "--ahead",
    default=64,
    show_default=True,
    help="How many records from now the new key takes over: enough for the log's growth until `apply`.",
)
@click.option("--revoke", is_flag=True, help="Revoke the key in force instead of replacing it.")
def prepare(data_dir: Path, purpose: str, output: Path, ahead: int, revoke: bool) -> None:
    """Make a new key of the running server, and the request that the root key signs."""
    with channel_to(data_dir) as channel:
        status = OperatorServiceStub(channel).GetStatus(pb_op.GetStatusRequest(), timeout=TIMEOUT_S)
    change = pb.KeyChanged(purpose=PURPOSES[purpose], first_leaf=status.log_size + ahead)
    change.header.origin = status.origin
    change.old_key = _in_force(status, purpose)
    if not revoke:
        path = add_key(data_dir / "keys", purpose, OsSource().read)
        click.echo(f"{path}: the new key, mode 0600")
        _name_new_key(change, path)
    _write(output, change)
    click.echo(f"{output}: leaf {change.first_leaf} of {status.origin}; have the root key sign it:")
    click.echo(f"  sealedshoe keys authorise {output} --root-key root.pem")


def _in_force(status: pb_op.GetStatusResponse, purpose: str) -> bytes:
    in_force = {
        "statement": status.statement_key,
        "checkpoint": status.checkpoint_key,
        "sealing": status.sealing_key_id.encode(),
    }
    return in_force[purpose]


def _name_new_key(change: pb.KeyChanged, path: Path) -> None:
    """Names the new key; a signing key proves that it is at hand."""
    if change.purpose == pb.KeyPurpose.KEY_PURPOSE_SEALING:
        secret = bytes.fromhex(path.read_text("ascii").strip())
        change.new_key = Sealer(secret).key_id.encode()
        return
    key = load_signing_key(path)
    change.new_key = public_bytes(key)
    change.possession_signature = key.sign(key_change_message(change))


@keys.command()
@click.argument("request", type=click.Path(exists=True, path_type=Path))
@click.option("--root-key", required=True, type=click.Path(exists=True, path_type=Path))
def authorise(request: Path, root_key: Path) -> None:
    """Sign a request with the root key, on the machine where it lies; needs no network."""
    change = _read(request)
    try:
        key = load_signing_key(root_key)
    except KeyFileError as error:
        raise click.ClickException(str(error)) from error
    change.root_signature = key.sign(key_change_message(change))
    _write(request, change)
    purpose = pb.KeyPurpose.Name(change.purpose).removeprefix("KEY_PURPOSE_").lower()
    new = change.new_key.hex() or "no key: it is revoked"
    click.echo(f"{request}: {purpose} key at leaf {change.first_leaf}: {new}")


@keys.command()
@data_dir_option
@click.argument("request", type=click.Path(exists=True, path_type=Path))
def apply(data_dir: Path, request: Path) -> None:
    """Hand an authorised request to the running server."""
    change = _read(request)
    change.ClearField("header")
    with channel_to(data_dir) as channel:
        asked = pb_op.ChangeKeyRequest(change=change)
        done = OperatorServiceStub(channel).ChangeKey(asked, timeout=TIMEOUT_S).done
    click.echo("done" if done else f"waits for leaf {change.first_leaf}; ask again to see it done")


@keys.command("list")
@data_dir_option
def list_keys(data_dir: Path) -> None:
    """Show the key files, and which the running server has in force."""
    with channel_to(data_dir) as channel:
        status = OperatorServiceStub(channel).GetStatus(pb_op.GetStatusRequest(), timeout=TIMEOUT_S)
    in_force = {status.statement_key, status.checkpoint_key, status.sealing_key_id.encode()}
    files = load_keys(data_dir / "keys")
    for public in files.signing:
        click.echo(f"{public.hex()}  {'in force' if public in in_force else ''}".rstrip())
    for secret in files.sealers:
        key_id = Sealer(secret).key_id
        click.echo(
            f"{key_id}  sealing  {'in force' if key_id.encode() in in_force else ''}".rstrip()
        )


def _read(path: Path) -> pb.KeyChanged:
    try:
        fields = json.loads(path.read_text("utf-8"))
        change = pb.KeyChanged(
            purpose=PURPOSES[fields["purpose"]],
            first_leaf=fields["first_leaf"],
            old_key=bytes.fromhex(fields["old_key"]),
            new_key=bytes.fromhex(fields["new_key"]),
            root_signature=bytes.fromhex(fields["root_signature"]),
            possession_signature=bytes.fromhex(fields["possession_signature"]),
        )
        change.header.origin = fields["origin"]
    except (ValueError, KeyError, TypeError) as error:
        raise click.ClickException(f"{path}: no request for a change of keys") from error
    return change


def _write(path: Path, change: pb.KeyChanged) -> None:
    purpose = next(name for name, value in PURPOSES.items() if value == change.purpose)
    fields = {
        "origin": change.header.origin,
        "purpose": purpose,
        "first_leaf": change.first_leaf,
        "old_key": change.old_key.hex(),
        "new_key": change.new_key.hex(),
        "possession_signature": change.possession_signature.hex(),
        "root_signature": change.root_signature.hex(),
    }
    path.write_text(json.dumps(fields, indent=2) + "\n", "utf-8")
