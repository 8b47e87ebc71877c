"""A witness: its key, its logs and its memory, answering requests one at a time."""

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sealedshoe_audit.log.note import (
    MAX_NOTE_BYTES,
    TYPE_COSIGNATURE,
    VerifierKey,
    cosignature_line,
)
from sealedshoe_audit.signing import public_bytes
from sealedshoe_audit.witness.decision import Extends, Refused, decide, open_submission
from sealedshoe_audit.witness.store import WitnessStore


class Witness:
    """Answers add-checkpoint."""

    def __init__(
        self,
        name: str,
        private_key: Ed25519PrivateKey,
        logs: Mapping[str, Sequence[VerifierKey]],
        store: WitnessStore,
        now_s: Callable[[], int],
    ) -> None:
        """Takes its identity, {origin: log keys}, its memory and its clock."""
        self.name = name
        self._private_key = private_key
        self._logs = logs
        self._store = store
        self._now_s = now_s
        self._origins = {sha256(origin.encode()).hexdigest(): origin for origin in logs}

    @property
    def vkey(self) -> VerifierKey:
        """The key that verifies its cosignatures, type 0x04."""
        return VerifierKey(self.name, TYPE_COSIGNATURE, public_bytes(self._private_key))

    def add_checkpoint(self, body: bytes) -> tuple[Refused | None, str]:
        """Returns a refusal, or None and the cosignature's line. The new head is durable by then."""
        submission = open_submission(body, self._logs)
        if isinstance(submission, Refused):
            return submission, ""
        note, new = submission.signed, submission.checkpoint
        time_s = self._now_s()
        decision = decide(submission, self._store.last(new.origin))
        if isinstance(decision, Refused):
            if decision.fork:
                self._store.keep_fork(new, note, time_s)
            return decision, ""
        return self._cosign(decision, note, time_s)

    def _cosign(self, extends: Extends, note: bytes, time_s: int) -> tuple[Refused | None, str]:
        line = cosignature_line(extends.text, self.name, self._private_key, time_s)
        whole = note + line.encode()
        if len(whole) > MAX_NOTE_BYTES:
            return Refused(400, "too many signatures\n"), ""
        if not self._store.replace(extends.old, extends.new, whole, time_s):
            return Refused(429, "another request was faster; ask again\n"), ""
        return None, line

    def checkpoint(self, origin_hash: str) -> bytes | None:
        """Returns the newest cosigned checkpoint of the log whose origin has this SHA-256 in hex."""
        origin = self._origins.get(origin_hash)
        return None if origin is None else self._store.note(origin)
