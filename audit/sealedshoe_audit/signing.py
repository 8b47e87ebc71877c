"""Ed25519 (RFC 8032) as this product uses it: 32-byte public keys, 64-byte signatures."""

from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

KEY_BYTES = 32
SIGNATURE_BYTES = 64


def key_id(public_key: bytes) -> bytes:
    """SHA-256 of a 32-byte public key, as envelopes name it."""
    return sha256(public_key).digest()


def public_bytes(private_key: Ed25519PrivateKey) -> bytes:
    """Returns the 32 bytes of the public half."""
    return private_key.public_key().public_bytes_raw()


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A public key as envelopes name it: 32 bytes, and their SHA-256."""

    public_key: bytes
    keyid: bytes

    @classmethod
    def of(cls, public_key: bytes) -> "SigningKey":
        """Names a key by its bytes."""
        return cls(public_key, key_id(public_key))


@lru_cache(maxsize=64)
def _loaded(public_key: bytes) -> Ed25519PublicKey:
    return Ed25519PublicKey.from_public_bytes(public_key)


def is_signed_by(public_key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether the signature is good; also False for a key that is no 32 bytes. The caller decides."""
    if len(public_key) != KEY_BYTES:
        return False
    try:
        _loaded(public_key).verify(signature, message)
    except InvalidSignature:
        return False
    return True
