"""The worked example of a log: three entries, one witness."""

from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sealedshoe_audit.log.note import parse_vkey
from sealedshoe_audit.trust import Trust
from tests.audit.vectors import vector_json

EXAMPLE: dict[str, Any] = vector_json("tlog/worked_example.json")
ORIGIN: str = EXAMPLE["origin"]
CHECKPOINT: bytes = EXAMPLE["checkpoint"].encode()
LOG_LINE, WITNESS_LINE = CHECKPOINT.split(b"\n\n")[1].splitlines(keepends=True)
TEXT = CHECKPOINT.split(b"\n\n")[0].decode() + "\n"
LOG_KEY = parse_vkey(EXAMPLE["log"]["vkey"])
WITNESS_KEY = parse_vkey(EXAMPLE["witness"]["vkey"])
LOG_PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(EXAMPLE["log"]["seed"]))
WITNESS_PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(EXAMPLE["witness"]["seed"]))
TRUST = Trust(ORIGIN, bytes(32), (LOG_KEY,), (WITNESS_KEY,), 1)
TRUST_LOG_ONLY = Trust(ORIGIN, bytes(32), (LOG_KEY,))
EM_DASH = "—".encode()
