"""Start-up known answers: every primitive that a shoe or a signature depends on, against fixed values.

Sources: CAVP no_reseed.HMAC_DRBG SHA-512 (first case without inputs), FIPS 180-4 "abc", RFC 5869 A.3,
RFC 8032 7.1 TEST 2, NIST GCM test case 14; the shoe is the worked example of docs/protocol.md.
"""

from collections.abc import Callable
from hashlib import sha256, sha512

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from sealedshoe_audit.framing import shoe_identity
from sealedshoe_audit.hmac_drbg import HmacDrbg
from sealedshoe_audit.shoe.commitment import build_shoe
from sealedshoe_audit.shoe.seed import seed_bytes

DRBG_ENTROPY = "35049f389a33c0ecb1293238fd951f8ffd517dfde06041d32945b3e26914ba15"
DRBG_NONCE = "f7328760be6168e6aa9fb54784989a11"
DRBG_ANSWER = (
    "624f573bf72d3b3fe0aa29a521235a625bd864e42968e1ca17500d78534f0851"  # SHA-256 of ReturnedBits
)
SHOE_ROOT_ANSWER = "a1aa167ebb89be4ab388b710d0f525193764869b0091ecce6d8f3bacf539bf40"


class KnownAnswerFailure(Exception):
    """A primitive gave another answer than its standard."""


def _drbg() -> str:
    drbg = HmacDrbg(bytes.fromhex(DRBG_ENTROPY), bytes.fromhex(DRBG_NONCE))
    drbg.generate(256)
    return sha256(drbg.generate(256)).hexdigest()


def _sha256() -> str:
    return sha256(b"abc").hexdigest()


def _sha512() -> str:
    return sha512(b"abc").hexdigest()[:64]


def _hkdf() -> str:
    return HKDF(SHA256(), 42, salt=None, info=b"").derive(b"\x0b" * 22).hex()


def _ed25519() -> str:
    key = Ed25519PrivateKey.from_private_bytes(
        bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
    )
    signature = key.sign(b"\x72")
    key.public_key().verify(signature, b"\x72")
    return signature.hex()


def _aes_gcm() -> str:
    return AESGCM(bytes(32)).encrypt(bytes(12), bytes(16), None).hex()


def _shoe() -> str:
    size = seed_bytes(8)
    seed = bytes(i % 256 for i in range(size))
    return build_shoe(seed, shoe_identity("example.test/log", "7", 1, 8), 8, 416).cards_root.hex()


_ANSWERS: tuple[tuple[str, Callable[[], str], str], ...] = (
    ("HMAC_DRBG", _drbg, DRBG_ANSWER),
    ("SHA-256", _sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ("SHA-512", _sha512, "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"),
    (
        "HKDF-SHA-256",
        _hkdf,
        "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8",
    ),
    (
        "Ed25519",
        _ed25519,
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "AES-256-GCM",
        _aes_gcm,
        "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919",
    ),
    ("shoe derivation", _shoe, SHOE_ROOT_ANSWER),
)


def check_known_answers() -> None:
    """Runs every primitive once; about 3 ms.

    Raises:
        KnownAnswerFailure: naming the primitive.
    """
    for name, compute, expected in _ANSWERS:
        if compute() != expected:
            raise KnownAnswerFailure(f"{name} does not give its known answer")
