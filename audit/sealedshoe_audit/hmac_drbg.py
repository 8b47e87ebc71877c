"""HMAC_DRBG with SHA-512: NIST SP 800-90A Rev. 1, section 10.1.2.

The state is K and V, 64 bytes each; security strength 256 bits. It is used twice in this product: as
the root of the certified RNG, and as the deterministic expansion of a shoe's seed. Both declare it.
Left out: the reseed counter's limit of 2^48 (each use here is reseeded far more often).
"""

from hashlib import sha512

OUT_BYTES = 64  # of SHA-512
MAX_REQUEST_BYTES = 2**16  # SP 800-90A table 2: 2^19 bits a request
MIN_ENTROPY_BYTES = 32  # SP 800-90A table 2: security strength 256 bits
MIN_NONCE_BYTES = 16  # SP 800-90A 8.6.7: half the security strength

# FIPS 198-1: the key, filled up to the hash's block of 128 bytes, XOR 36 and XOR 5c. Two hash calls cost
# half of what a call into the library's HMAC does, and Generate shares the padded key between its blocks.
_ZEROS = bytes(64)
_IPAD = bytes(byte ^ 0x36 for byte in range(256))
_OPAD = bytes(byte ^ 0x5C for byte in range(256))


class HmacDrbg:
    """One instantiation. Mutable; its representation never shows the state."""

    __slots__ = ("_key", "_value")

    def __init__(self, entropy_input: bytes, nonce: bytes, personalization: bytes = b"") -> None:
        """Instantiates.

        Args:
            entropy_input: at least 32 bytes.
            nonce: at least 16 bytes.

        Raises:
            ValueError: either is too short.

        Source: SP 800-90A Rev. 1, 10.1.2.3.
        """
        if len(entropy_input) < MIN_ENTROPY_BYTES:
            raise ValueError(f"entropy input must be {MIN_ENTROPY_BYTES} bytes or more")
        if len(nonce) < MIN_NONCE_BYTES:
            raise ValueError(f"nonce must be {MIN_NONCE_BYTES} bytes or more")
        self._key = bytes(OUT_BYTES)
        self._value = b"\x01" * OUT_BYTES
        self._update(entropy_input + nonce + personalization)

    def reseed(self, entropy_input: bytes, additional_input: bytes = b"") -> None:
        """Mixes in fresh entropy, at least 32 bytes.

        Raises:
            ValueError: the entropy input is too short.

        Source: SP 800-90A Rev. 1, 10.1.2.4.
        """
        if len(entropy_input) < MIN_ENTROPY_BYTES:
            raise ValueError(f"entropy input must be {MIN_ENTROPY_BYTES} bytes or more")
        self._update(entropy_input + additional_input)

    def generate(self, size_bytes: int, additional_input: bytes = b"") -> bytes:
        """Returns pseudorandom bytes. One request of 2n bytes differs from two of n.

        Raises:
            ValueError: more than 65,536 bytes asked for.

        Source: SP 800-90A Rev. 1, 10.1.2.5.
        """
        if not 0 <= size_bytes <= MAX_REQUEST_BYTES:
            raise ValueError(f"a request is at most {MAX_REQUEST_BYTES} bytes")
        if additional_input:
            self._update(additional_input)
        inner, outer = (sha512((self._key + _ZEROS).translate(pad)) for pad in (_IPAD, _OPAD))
        value = self._value
        blocks: list[bytes] = []
        for _ in range(-(-size_bytes // OUT_BYTES)):
            inside, outside = inner.copy(), outer.copy()
            inside.update(value)
            outside.update(inside.digest())
            value = outside.digest()
            blocks.append(value)
        self._value = value
        self._update(additional_input)
        return b"".join(blocks)[:size_bytes]

    def _update(self, data: bytes) -> None:
        """SP 800-90A Rev. 1, 10.1.2.2: one round without data, two with."""
        key = _hmac(self._key, self._value + b"\x00" + data)
        value = _hmac(key, self._value)
        if data:
            key = _hmac(key, value + b"\x01" + data)
            value = _hmac(key, value)
        self._key, self._value = key, value


def _hmac(key: bytes, data: bytes) -> bytes:
    """HMAC-SHA-512 (FIPS 198-1) under a key of 64 bytes."""
    padded = key + _ZEROS
    return sha512(
        padded.translate(_OPAD) + sha512(padded.translate(_IPAD) + data).digest()
    ).digest()
