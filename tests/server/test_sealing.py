"""Sealed seeds: only the same key, shoe and commitment open them, and every byte counts."""

from hashlib import sha256

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from hypothesis import given, settings
from hypothesis import strategies as st

from sealedshoe_server.sealing import SealBroken, Sealer

KEY, SALT, IDENTITY = b"k" * 32, b"r" * 32, b"\x00\x04log/\x00\x01t" + bytes(8) + b"\x08"
SEED = bytes(i % 256 for i in range(560))
COMMITMENT = sha256(b"sealedshoe/v1/seed\x00" + SEED).digest()


def sealed() -> bytes:
    return Sealer(KEY).seal(SEED, IDENTITY, COMMITMENT, SALT)


def test_a_sealed_seed_opens_again() -> None:
    """With key, shoe and commitment, byte for byte."""
    assert Sealer(KEY).open(sealed(), IDENTITY, COMMITMENT) == SEED


def test_the_blob_is_what_the_protocol_says() -> None:
    """R || AES-256-GCM under HKDF-SHA256(sealing key, R, info), made here by hand."""
    sealer = Sealer(KEY)
    info = b"sealedshoe/v1/seal\x00" + IDENTITY
    derived = HKDF(SHA256(), 44, salt=SALT, info=info).derive(KEY)
    key_id = sealer.key_id.encode()
    data = info + len(key_id).to_bytes(2, "big") + key_id + COMMITMENT
    assert sealed() == SALT + AESGCM(derived[:32]).encrypt(derived[32:], SEED, data)


def test_the_seed_is_not_in_the_blob() -> None:
    """No eight bytes of it."""
    blob = sealed()
    assert not any(SEED[i : i + 8] in blob for i in range(len(SEED) - 8))
    assert len(blob) == 32 + 560 + 16


def test_the_key_id_tells_keys_apart_and_not_the_key() -> None:
    """Sixteen hex digits that are no part of the key."""
    ids = {Sealer(bytes([i]) * 32).key_id for i in range(10)}
    assert len(ids) == 10
    assert all(len(key_id) == 16 for key_id in ids)
    assert KEY.hex()[:16] not in ids


@pytest.mark.parametrize(
    ("key", "identity", "commitment"),
    [
        (b"K" * 32, IDENTITY, COMMITMENT),
        (KEY, IDENTITY + b"x", COMMITMENT),
        (KEY, IDENTITY[:-1] + b"\x06", COMMITMENT),
        (KEY, IDENTITY, bytes(32)),
    ],
)
def test_another_key_shoe_or_commitment_does_not_open_it(
    key: bytes, identity: bytes, commitment: bytes
) -> None:
    """Each is bound into the encryption."""
    with pytest.raises(SealBroken):
        Sealer(key).open(sealed(), identity, commitment)


@given(st.integers(0, 32 + 560 + 15), st.integers(1, 255))
@settings(deadline=None, max_examples=100)
def test_any_flipped_byte_breaks_the_seal(position: int, flip: int) -> None:
    """In the salt, the ciphertext or the tag."""
    blob = bytearray(sealed())
    blob[position] ^= flip
    with pytest.raises(SealBroken):
        Sealer(KEY).open(bytes(blob), IDENTITY, COMMITMENT)


@given(st.integers(0, 32 + 560 + 15))
@settings(deadline=None, max_examples=60)
@pytest.mark.filterwarnings("error")
def test_a_cut_blob_is_a_broken_seal(size: int) -> None:
    """At any length, down to nothing."""
    with pytest.raises(SealBroken):
        Sealer(KEY).open(sealed()[:size], IDENTITY, COMMITMENT)


def test_a_well_sealed_seed_of_another_commitment_is_refused() -> None:
    """Whoever holds the sealing key cannot slip another seed under a commitment."""
    other = bytes(560)
    blob = Sealer(KEY).seal(other, IDENTITY, COMMITMENT, SALT)
    with pytest.raises(SealBroken, match="not the committed one"):
        Sealer(KEY).open(blob, IDENTITY, COMMITMENT)


def test_no_failure_or_representation_shows_key_or_seed() -> None:
    """Neither text nor hex of either."""
    sealer = Sealer(KEY)
    with pytest.raises(SealBroken) as caught:
        sealer.open(sealed(), IDENTITY, bytes(32))
    shown = repr(sealer) + str(caught.value) + repr(caught.value)
    for secret in (KEY, SEED[:16], SEED[-16:]):
        assert secret.hex() not in shown
        assert repr(secret)[2:-1] not in shown
