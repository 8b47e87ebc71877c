"""Changes of keys of a running server, made here from the protocol and signed by its own root key."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from sealedshoe_audit.trust import parse_trust
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.verify.evidence import verify_evidence
from sealedshoe_audit.verify.log import LogReport
from sealedshoe_audit.verify.report import Report
from sealedshoe_server.v1 import audit_service_pb2 as pb_audit
from sealedshoe_server.v1 import operator_service_pb2 as pb_op
from tests.audit.forge.log import key_change
from tests.server.reading import audit_log, stored_records
from tests.server.running import Running

STATEMENT, CHECKPOINT, SEALING = 1, 2, 3  # as KeyPurpose numbers them
NAMES = {STATEMENT: "statement", CHECKPOINT: "checkpoint", SEALING: "sealing"}
Tamper = Callable[[Any], object]


def nothing(_: Any) -> None:
    """Changes nothing."""


def root_key(data_dir: Path) -> Ed25519PrivateKey:
    """The root key that a first start left beside the others."""
    key = load_pem_private_key((data_dir / "keys" / "root.pem").read_bytes(), None)
    assert isinstance(key, Ed25519PrivateKey)
    return key


def sealing_id(secret: bytes) -> bytes:
    """A sealing key's id, as text in bytes."""
    return sha256(b"sealedshoe/v1/seal-key-id\x00" + secret).hexdigest()[:16].encode()


@dataclass(frozen=True)
class NewKey:
    """A key that was made for a change: its name in the log, its file, and its private half."""

    name: bytes
    path: Path
    private: Ed25519PrivateKey | None


def make_key(data_dir: Path, purpose: int) -> NewKey:
    """Writes a new key file beside the others."""
    keys = data_dir / "keys"
    if purpose == SEALING:
        secret = os.urandom(32)
        path = keys / f"sealing-{secret[:4].hex()}.key"
        path.write_text(secret.hex() + "\n", "ascii")
        path.chmod(0o600)
        return NewKey(sealing_id(secret), path, None)
    private = Ed25519PrivateKey.generate()
    name = private.public_key().public_bytes_raw()
    path = keys / f"{NAMES[purpose]}-{name[:4].hex()}.pem"
    path.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    path.chmod(0o600)
    return NewKey(name, path, private)


async def status(server: Running) -> pb_op.GetStatusResponse:
    """GetStatus."""
    return await server.operator.GetStatus(pb_op.GetStatusRequest(), timeout=10)


async def in_force(server: Running, purpose: int) -> bytes:
    """The name of the key that the server says is in force."""
    now = await status(server)
    return {
        STATEMENT: now.statement_key,
        CHECKPOINT: now.checkpoint_key,
        SEALING: now.sealing_key_id.encode(),
    }[purpose]


async def change_of(
    server: Running, purpose: int, new: NewKey | None, ahead: int, tamper: Tamper = nothing
) -> pb.KeyChanged:
    """An authorised change so many leaves ahead; `tamper` is made before it is signed."""
    change = pb.KeyChanged(
        header=pb.Header(origin=server.config.origin),
        purpose=pb.KeyPurpose.ValueType(purpose),
        old_key=await in_force(server, purpose),
        new_key=b"" if new is None else new.name,
        first_leaf=await server.size() + ahead,
    )
    tamper(change)
    sign(change, root_key(server.data_dir), new)
    change.ClearField("header")
    return change


def sign(change: pb.KeyChanged, root: Ed25519PrivateKey, new: NewKey | None) -> None:
    """The root key's word, and the new key's proof."""
    change.root_signature = root.sign(key_change(change))
    if new is not None and new.private is not None:
        change.possession_signature = new.private.sign(key_change(change))


async def hand_in(server: Running, change: pb.KeyChanged) -> bool:
    """ChangeKey; returns whether it stands already."""
    request = pb_op.ChangeKeyRequest(change=change)
    return (await server.operator.ChangeKey(request, timeout=10)).done


async def until_changed(server: Running, change: pb.KeyChanged) -> None:
    """Asks again until the change stands, and until the server has it in force."""
    while not await hand_in(server, change):
        await asyncio.sleep(0.02)
    while await in_force(server, change.purpose) != change.new_key:
        await asyncio.sleep(0.02)


async def rotate(server: Running, purpose: int, ahead: int = 8) -> NewKey:
    """Changes a key and returns the new one once it is in force."""
    new = make_key(server.data_dir, purpose)
    await until_changed(server, await change_of(server, purpose, new, ahead))
    return new


def changes_in(data_dir: Path) -> list[tuple[int, pb.KeyChanged]]:
    """Every change of keys of a log, with its leaf."""
    records = enumerate(stored_records(data_dir))
    return [(index, record) for index, record in records if isinstance(record, pb.KeyChanged)]


async def checkpoint(server: Running) -> bytes:
    """The newest head to show."""
    answer = await server.audit.GetCheckpoint(pb_audit.GetCheckpointRequest(), timeout=10)
    return answer.checkpoint


async def audited(server: Running) -> LogReport:
    """The auditor's verdict on the running server's whole log, which must be valid."""
    report = audit_log(server.data_dir, await checkpoint(server))
    assert report.valid, report.findings
    return report


async def evidence(server: Running, round_name: str) -> bytes:
    """A round's evidence file."""
    request = pb_audit.GetEvidenceRequest(round=round_name)
    return (await server.audit.GetEvidence(request, timeout=10)).evidence


def verified(server: Running, data: bytes) -> Report:
    """The auditor's verdict on evidence under the server's trust file as it is now."""
    return verify_evidence(data, parse_trust((server.data_dir / "trust.json").read_bytes()))
