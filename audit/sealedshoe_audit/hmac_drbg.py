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

# FIPS 198-1: the key, filled up to the hash's block of 128 bytes, XOR 36 and XOR 5c.
_ZEROS = bytes(64)
_IPAD = bytes(byte ^ 0x36 for byte in range(256))
_OPAD = bytes(byte ^ 0x5C for byte in range(256))


class _Hmac:
    """HMAC-SHA-512 (FIPS 198-1) under a key of 64 bytes, whose two padded blocks are hashed once.

    It costs half of what the library's HMAC does, and every key of the DRBG serves twice or more.
    """

    __slots__ = ("_inner", "_outer")

    def __init__(self, key: bytes) -> None:
        padded = key + _ZEROS
        self._inner = sha512(padded.translate(_IPAD))
        self._outer = sha512(padded.translate(_OPAD))

    def digest(self, data: bytes) -> bytes:
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(data)
        outer.update(inner.digest())
        return outer.digest()


class HmacDrbg:
    """One instantiation. Mutable; its representation never shows the state."""

    __slots__ = ("_hmac", "_value")

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
        self._hmac = _Hmac(bytes(OUT_BYTES))
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
        value = self._value
        blocks: list[bytes] = []
        for _ in range(-(-size_bytes // OUT_BYTES)):
            value = self._hmac.digest(value)
            blocks.append(value)
        self._value = value
        self._update(additional_input)
        return b"".join(blocks)[:size_bytes]

    def _update(self, data: bytes) -> None:
        """SP 800-90A Rev. 1, 10.1.2.2: one round without data, two with."""
        keyed = _Hmac(self._hmac.digest(self._value + b"\x00" + data))
        value = keyed.digest(self._value)
        if data:
            keyed = _Hmac(keyed.digest(value + b"\x01" + data))
            value = keyed.digest(value)
        self._hmac, self._value = keyed, value
