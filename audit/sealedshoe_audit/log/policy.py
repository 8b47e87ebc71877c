"""Policy files (C2SP tlog-policy): which logs, which witnesses, and how many of them make a quorum.

    log <vkey> [url]
    witness <name> <vkey> [url]
    group <name> <k|any|all> <member>...
    quorum <name|none>

Lines of `#` are comments. A group names only what stands above it; a name is a member of at most one
group; no two lines have one public key; there is exactly one quorum line.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.note import TYPE_COSIGNATURE, TYPE_ED25519, VerifierKey, parse_vkey

MAX_POLICY_BYTES = 64 * 1024
MAX_DEPTH = 16  # groups of groups
NONE = "none"
_NAME = re.compile(r"[!-\"$-~][!-~]{0,99}")  # printable ASCII, not beginning a comment
_URL = re.compile(r"https?://[!-~]{1,500}")


@dataclass(frozen=True, slots=True)
class PolicyLog:
    """A log, by its verifier key; its URL may be "" when it is known elsewhere."""

    key: VerifierKey
    url: str = ""


@dataclass(frozen=True, slots=True)
class Witness:
    """A witness under the name that this policy gives it."""

    name: str
    key: VerifierKey
    url: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Satisfied once `threshold` of its members are."""

    name: str
    threshold: int
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Policy:
    """What a verifier asks of a checkpoint's cosignatures."""

    logs: tuple[PolicyLog, ...] = ()
    witnesses: tuple[Witness, ...] = ()
    groups: tuple[Group, ...] = ()
    quorum: str = NONE
    _by_name: Mapping[str, Group] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", {group.name: group for group in self.groups})

    def is_met_by(self, keys: Collection[VerifierKey]) -> bool:
        """Whether these witnesses' cosignatures make the quorum."""
        signed = {witness.name for witness in self.witnesses if witness.key in keys}
        return self.quorum == NONE or self._is_met(self.quorum, signed)

    def _is_met(self, name: str, signed: set[str]) -> bool:
        group = self._by_name.get(name)
        if group is None:
            return name in signed
        return sum(self._is_met(member, signed) for member in group.members) >= group.threshold

    def fewest(self) -> int:
        """Returns the smallest number of witnesses that can make the quorum."""
        return 0 if self.quorum == NONE else self._fewest(self.quorum)

    def _fewest(self, name: str) -> int:
        group = self._by_name.get(name)
        if group is None:
            return 1
        return sum(sorted(self._fewest(member) for member in group.members)[: group.threshold])

    def text(self) -> str:
        """Returns the file, one line a fact, groups with their number."""
        lines = [_line("log", log.key.text(), log.url) for log in self.logs]
        lines += [_line("witness", w.name, w.key.text(), w.url) for w in self.witnesses]
        lines += [_line("group", g.name, str(g.threshold), *g.members) for g in self.groups]
        return "".join([*lines, f"quorum {self.quorum}\n"])


def _line(*words: str) -> str:
    return " ".join(word for word in words if word) + "\n"


def parse_policy(data: bytes) -> Policy:
    """Reads a policy file.

    Raises:
        VerificationError: TRUST, naming the line.
    """
    if len(data) > MAX_POLICY_BYTES:
        raise _bad(0, "a policy of at most 64 KiB")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _bad(0, "UTF-8") from error
    reader = _Reader()
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split()
        if words and not words[0].startswith("#"):
            reader.take(number, words)
    if reader.quorum is None:
        raise _bad(0, "a quorum line")
    logs, witnesses = tuple(reader.logs), tuple(reader.witnesses)
    return Policy(logs, witnesses, tuple(reader.groups), reader.quorum)


class _Reader:
    """Takes the lines in order."""

    def __init__(self) -> None:
        self.logs: list[PolicyLog] = []
        self.witnesses: list[Witness] = []
        self.groups: list[Group] = []
        self.quorum: str | None = None
        self._depths: dict[str, int] = {}  # of every name: 0 for a witness
        self._members: set[str] = set()
        self._keys: set[bytes] = set()

    def take(self, number: int, words: list[str]) -> None:
        match words:
            case ["log", vkey]:
                self.logs.append(PolicyLog(self._key(number, vkey, TYPE_ED25519)))
            case ["log", vkey, url]:
                key = self._key(number, vkey, TYPE_ED25519)
                self.logs.append(PolicyLog(key, _checked_url(number, url)))
            case ["witness", name, vkey]:
                self._witness(number, name, vkey, "")
            case ["witness", name, vkey, url]:
                self._witness(number, name, vkey, _checked_url(number, url))
            case ["group", name, threshold, *members]:
                self._group(number, name, threshold, members)
            case ["quorum", name] if self.quorum is None:
                if name != NONE and name not in self._depths:
                    raise _bad(number, "a name from above, or none")
                self.quorum = name
            case _:
                raise _bad(number, "a log, witness, group or single quorum line")

    def _key(self, number: int, text: str, kind: int) -> VerifierKey:
        key = parse_vkey(text)
        if key.type != kind or key.public_key in self._keys:
            raise _bad(number, f"a new key of type {kind:02x}")
        self._keys.add(key.public_key)
        return key

    def _witness(self, number: int, name: str, vkey: str, url: str) -> None:
        key = self._key(number, vkey, TYPE_COSIGNATURE)
        self._take_name(number, name, 0)
        self.witnesses.append(Witness(name, key, url))

    def _group(self, number: int, name: str, threshold: str, members: list[str]) -> None:
        known = all(m in self._depths and m not in self._members for m in members)
        if not members or not known or len(set(members)) != len(members):
            raise _bad(number, "members from above, each of one group")
        least = {"any": "1", "all": str(len(members))}.get(threshold, threshold)
        if not re.fullmatch("[1-9][0-9]{0,2}", least) or int(least) > len(members):
            raise _bad(number, f"a threshold of 1 to {len(members)}, any or all")
        depth = 1 + max(self._depths[member] for member in members)
        if depth > MAX_DEPTH:
            raise _bad(number, f"groups at most {MAX_DEPTH} deep")
        self._take_name(number, name, depth)
        self._members |= set(members)
        self.groups.append(Group(name, int(least), tuple(members)))

    def _take_name(self, number: int, name: str, depth: int) -> None:
        if name == NONE or name in self._depths or not _NAME.fullmatch(name):
            raise _bad(number, "a new name")
        self._depths[name] = depth


def _checked_url(number: int, url: str) -> str:
    if not _URL.fullmatch(url):
        raise _bad(number, "an http or https URL")
    return url


def _bad(number: int, expected: str) -> VerificationError:
    return VerificationError(Code.TRUST, expected=expected, found=f"policy line {number}")
