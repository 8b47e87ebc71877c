"""The trust file: what a verifier takes as given, and nothing else.

JSON in one canonical form: keys ascending, two spaces of indentation, a final line feed. It pins the
log's origin, the operator's offline root key, the checkpoint keys, the witnesses and their quorum.
"""

import json
from dataclasses import dataclass, replace
from typing import cast

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.note import TYPE_COSIGNATURE, TYPE_ED25519, VerifierKey, parse_vkey
from sealedshoe_audit.log.policy import Policy
from sealedshoe_audit.signing import KEY_BYTES

FORMAT = "sealedshoe/v1/trust"
_KEYS = ["checkpoint_keys", "format", "origin", "quorum", "root_key", "witnesses"]


@dataclass(frozen=True, slots=True)
class Trust:
    """What a verifier takes as given.

    Attributes:
        root_key: 32 bytes; it authorises the statement keys.
        checkpoint_keys: one or more, named like the origin.
        quorum: number of witnesses that must have cosigned a checkpoint; 0 asks for none.
        policy: which of them make the quorum, when a policy file says so; not part of the trust file.
    """

    origin: str
    root_key: bytes
    checkpoint_keys: tuple[VerifierKey, ...]
    witnesses: tuple[VerifierKey, ...] = ()
    quorum: int = 0
    policy: Policy | None = None

    def under(self, policy: Policy) -> "Trust":
        """Returns the same trust with a policy's witnesses and quorum in place of the file's."""
        witnesses = tuple(witness.key for witness in policy.witnesses)
        return replace(self, witnesses=witnesses, quorum=policy.fewest(), policy=policy)

    def text(self) -> str:
        """Returns the file's content."""
        content = {
            "checkpoint_keys": [key.text() for key in self.checkpoint_keys],
            "format": FORMAT,
            "origin": self.origin,
            "quorum": self.quorum,
            "root_key": self.root_key.hex(),
            "witnesses": [key.text() for key in self.witnesses],
        }
        return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def parse_trust(data: bytes) -> Trust:
    """Reads a trust file; only the canonical bytes are accepted.

    Raises:
        VerificationError: TRUST.
    """
    try:
        trust = _read(json.loads(data.decode("utf-8")))
    except (ValueError, RecursionError) as error:
        raise _bad("a trust file in JSON") from error
    if trust.text().encode() != data:
        raise _bad("the canonical form")
    return trust


def _read(value: object) -> Trust:
    if not isinstance(value, dict):
        raise _bad("a JSON object")
    content = cast("dict[str, object]", value)
    if sorted(content) != _KEYS or content["format"] != FORMAT:
        raise _bad(f"the keys {', '.join(_KEYS)} of {FORMAT}")
    origin, root, quorum = content["origin"], content["root_key"], content["quorum"]
    if not isinstance(origin, str) or not isinstance(root, str):
        raise _bad("origin and root_key as strings")
    root_key = bytes.fromhex(root)
    checkpoint_keys = _keys(content["checkpoint_keys"])
    witnesses = _keys(content["witnesses"])
    if len(root_key) != KEY_BYTES or not checkpoint_keys:
        raise _bad("a 32-byte root key and a checkpoint key")
    if any(key.type != TYPE_ED25519 or key.name != origin for key in checkpoint_keys):
        raise _bad("checkpoint keys of type 1 named like the origin")
    if any(key.type != TYPE_COSIGNATURE for key in witnesses):
        raise _bad("witness keys of type 4")
    keys = [root_key, *(key.public_key for key in (*checkpoint_keys, *witnesses))]
    if len(set(keys)) != len(keys):
        raise _bad("distinct keys for distinct purposes")
    if len({key.name for key in witnesses}) != len(witnesses):
        raise _bad("distinct witness names")
    if type(quorum) is not int or not 0 <= quorum <= len(witnesses):
        raise _bad("a quorum of 0 to the number of witnesses")
    return Trust(origin, root_key, checkpoint_keys, witnesses, quorum)


def _keys(value: object) -> tuple[VerifierKey, ...]:
    if not isinstance(value, list):
        raise _bad("an array of verifier keys")
    items = cast("list[object]", value)
    return tuple(parse_vkey(item) if isinstance(item, str) else _fail() for item in items)


def _fail() -> VerifierKey:
    raise _bad("verifier keys as strings")


def _bad(expected: str) -> VerificationError:
    return VerificationError(Code.TRUST, expected=expected, found="another file")
