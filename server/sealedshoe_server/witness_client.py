"""Asks one witness for cosignatures (C2SP tlog-witness v1.0.0), and looks at what it holds of our log."""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

import aiohttp

from sealedshoe_audit.errors import VerificationError
from sealedshoe_audit.log.checkpoint import Checkpoint, parse_checkpoint
from sealedshoe_audit.log.note import (
    MAX_NOTE_BYTES,
    Note,
    VerifierKey,
    parse_note,
    signature_line,
    verify_signers,
)
from sealedshoe_audit.log.policy import Witness
from sealedshoe_audit.log.witness_request import WitnessRequest

# Returns the hashes that prove a tree of the second size to extend one of the first.
Prove = Callable[[int, int], tuple[bytes, ...]]
_MAX_SIZE_DIGITS = 19


async def read_limited(answer: aiohttp.ClientResponse, most: int) -> bytes:
    """Returns a body, or its first bytes when it is longer; one read gives one piece only."""
    data = b""
    while len(data) < most and (piece := await answer.content.read(most - len(data))):
        data += piece
    return data


class WitnessFailed(Exception):
    """No cosignature this time: it is down, slow, or not one of ours.

    Attributes:
        result: for the metrics, one word.
    """

    def __init__(self, result: str, problem: str) -> None:
        super().__init__(problem)
        self.result = result


class WitnessRefused(WitnessFailed):
    """It says that our head does not extend what it holds: a fork of ours, or a fault of its own."""


@dataclass(frozen=True, slots=True)
class Head:
    """A released head: its text and its signed note."""

    size: int
    text: str
    note: bytes


class WitnessClient:
    """One witness. Remembers the size it holds, so that the next request fits at once."""

    def __init__(self, witness: Witness, http: aiohttp.ClientSession, timeout_s: float) -> None:
        """Takes the witness of a policy, which has a URL."""
        self.witness = witness
        self._http = http
        self._timeout = aiohttp.ClientTimeout(total=timeout_s)
        self._held = 0

    async def cosign(self, head: Head, prove: Prove) -> str:
        """Returns the verified signature line of this witness over a head.

        Raises:
            WitnessFailed, WitnessRefused: see the classes.
        """
        for _ in range(2):
            old = min(self._held, head.size)
            body = WitnessRequest(old, prove(old, head.size), head.note).data()
            status, kind, text = await self._post(body)
            if status == 409 and kind == "text/x.tlog.size":
                self._held = self._stated_size(text, head)
                continue
            if status == 200:
                line = self._line(head.text, text)
                self._held = head.size
                return line
            if status in (409, 422):
                raise WitnessRefused("refused", f"status {status}")
            raise WitnessFailed("error", f"status {status}")
        raise WitnessFailed("conflict", "it names another size each time")

    def _stated_size(self, text: str, head: Head) -> int:
        digits = text.strip()
        if not digits.isdecimal() or len(digits) > _MAX_SIZE_DIGITS:
            raise WitnessFailed("error", "a conflict without a size")
        if int(digits) > head.size:
            raise WitnessRefused("ahead", f"it holds size {digits}, ours is {head.size}")
        return int(digits)

    async def _post(self, body: bytes) -> tuple[int, str, str]:
        url = f"{self.witness.url.rstrip('/')}/add-checkpoint"
        try:
            async with self._http.post(url, data=body, timeout=self._timeout) as answer:
                data = await read_limited(answer, MAX_NOTE_BYTES + 1)
                return answer.status, answer.content_type, data.decode()
        except (aiohttp.ClientError, TimeoutError, UnicodeDecodeError) as error:
            raise WitnessFailed("down", str(error) or "no answer in time") from error

    def _line(self, text: str, lines: str) -> str:
        """Returns the one line of this witness's key; lines of unknown keys are ignored."""
        key = self.witness.key
        try:
            note = parse_note(f"{text}\n{lines}".encode())
            if note.text != text:
                raise WitnessFailed("bad-signature", "more than signature lines")
            good = bool(verify_signers(note, [key]))
        except VerificationError as error:
            raise WitnessFailed("bad-signature", str(error)) from error
        if not good:
            raise WitnessFailed("bad-signature", "no line of its key")
        found = next(s for s in note.signatures if (s.name, s.id) == (key.name, key.id))
        return signature_line(found.name, found.id, found.blob)

    async def held(self, origin: str, keys: tuple[VerifierKey, ...]) -> Checkpoint | None:
        """Returns the newest head it shows under our own signature; None when it shows none.

        A bare number, or a head that we never signed, proves nothing.

        Raises:
            WitnessFailed: it is down.
        """
        path = f"{sha256(origin.encode()).hexdigest()}/checkpoint"
        url = f"{self.witness.url.rstrip('/')}/{path}"
        try:
            async with self._http.get(url, timeout=self._timeout) as answer:
                data = await read_limited(answer, MAX_NOTE_BYTES + 1)
                if answer.status != 200:
                    return None
        except (aiohttp.ClientError, TimeoutError) as error:
            raise WitnessFailed("down", str(error) or "no answer in time") from error
        return _shown(data, origin, keys)


def _shown(data: bytes, origin: str, keys: tuple[VerifierKey, ...]) -> Checkpoint | None:
    try:
        note: Note = parse_note(data)
        checkpoint = parse_checkpoint(note.text)
        ours = checkpoint.origin == origin and bool(verify_signers(note, keys))
    except VerificationError:
        return None
    return checkpoint if ours else None
