"""Sealed seeds: encrypted at rest, bound to their shoe, openable by the server alone (protocol, 4.7).

blob = R[32] || AES-256-GCM(key, nonce, seed), where key[32] || nonce[12] = HKDF-SHA256(ikm = sealing key,
salt = R, info = "sealedshoe/v1/seal" 00 || shoe identity), and the associated data is
info || lp(key id) || seed commitment. Key and nonce are used once, as R is fresh for every seal.
"""

from hashlib import sha256

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from sealedshoe_audit.framing import DOMAIN_SEAL, lp
from sealedshoe_audit.shoe.commitment import seed_commitment

SALT_BYTES = 32


class SealBroken(Exception):
    """The blob is damaged, another shoe's, or sealed with another key."""


class Sealer:
    """Seals and opens with one sealing key of 32 bytes."""

    def __init__(self, key: bytes) -> None:
        """Keeps the key; its id is the start of its hash."""
        self._key = key
        self.key_id = sha256(b"sealedshoe/v1/seal-key-id\x00" + key).hexdigest()[:16]

    def seal(self, seed: bytes, identity: bytes, commitment: bytes, salt: bytes) -> bytes:
        """Returns the blob.

        Args:
            salt: 32 fresh random bytes.
        """
        cipher, nonce, data = self._derive(identity, commitment, salt)
        return salt + cipher.encrypt(nonce, seed, data)

    def open(self, blob: bytes, identity: bytes, commitment: bytes) -> bytes:
        """Returns the seed, which matches its commitment.

        Raises:
            SealBroken: it cannot be had.
        """
        cipher, nonce, data = self._derive(identity, commitment, blob[:SALT_BYTES])
        try:
            seed = cipher.decrypt(nonce, blob[SALT_BYTES:], data)
        except InvalidTag as error:
            raise SealBroken("the sealed seed does not open") from error
        if seed_commitment(seed) != commitment:
            raise SealBroken("the sealed seed is not the committed one")
        return seed

    def _derive(
        self, identity: bytes, commitment: bytes, salt: bytes
    ) -> tuple[AESGCM, bytes, bytes]:
        info = DOMAIN_SEAL + identity
        derived = HKDF(SHA256(), 44, salt=salt, info=info).derive(self._key)
        data = info + lp(self.key_id.encode()) + commitment
        return AESGCM(derived[:32]), derived[32:], data
