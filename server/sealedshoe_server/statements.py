"""Signs records: the only place where the statement key is used."""

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sealedshoe_audit.envelope import pre_authentication
from sealedshoe_audit.records import PAYLOAD_TYPES, Record
from sealedshoe_audit.signing import key_id, public_bytes
from sealedshoe_audit.v1.records_pb2 import Envelope


class Statements:
    """Signs with one statement key."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        """Keeps the key; its id goes into every envelope."""
        self.use(key)

    def use(self, key: Ed25519PrivateKey) -> None:
        """Signs with this key from now on."""
        self._key = key
        self.public_key = public_bytes(key)
        self._keyid = key_id(self.public_key)

    def sign(self, record: Record) -> bytes:
        """Returns the serialised envelope of a record."""
        payload_type = PAYLOAD_TYPES[type(record)]
        payload = record.SerializeToString(deterministic=True)
        signature = self._key.sign(pre_authentication(payload_type, payload))
        return Envelope(
            payload_type=payload_type, payload=payload, keyid=self._keyid, signature=signature
        ).SerializeToString(deterministic=True)
