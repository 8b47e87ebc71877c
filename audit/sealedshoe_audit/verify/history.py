"""Heads that somebody kept: each must be a prefix of the log as it is published now."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.fold.head_signers import check_head_signer, verify_old_head
from sealedshoe_audit.fold.keys import LogKeys
from sealedshoe_audit.log.checkpoint import VerifiedCheckpoint, parse_checkpoint, verify_checkpoint
from sealedshoe_audit.log.note import VerifierKey, parse_note
from sealedshoe_audit.trust import Trust
from sealedshoe_audit.verify.report import ERROR, NOTICE, Finding


class HeadHistory:
    """Compares kept heads with the log as it grows leaf by leaf.

    A head that no key of the trust file signed may be from before a key was revoked: the log's own keys
    tell once it has grown so far.

    Attributes:
        compared: heads compared so far.
    """

    def __init__(self, trust: Trust, notes: Iterable[bytes]) -> None:
        """Takes signed checkpoints, with cosignatures or without.

        Raises:
            VerificationError: PARSE or ORIGIN_MISMATCH: one is no head of this log.
        """
        self._trust = replace(trust, quorum=0)
        self._signed: dict[int, dict[bytes, set[VerifierKey]]] = {}
        self._unknown: dict[int, set[bytes]] = {}
        self._cosigned = 0
        self.compared = 0
        for note in notes:
            try:
                head = verify_checkpoint(note, self._trust)
            except VerificationError as error:
                if error.code is not Code.NOTE_SIGNATURE:
                    raise
                size = parse_checkpoint(parse_note(note).text).size
                self._unknown.setdefault(size, set()).add(note)
                continue
            self._keep(head)
            if len(head.cosigned) >= trust.quorum:
                self._cosigned = max(self._cosigned, head.checkpoint.size)

    def _keep(self, head: VerifiedCheckpoint) -> None:
        roots = self._signed.setdefault(head.checkpoint.size, {})
        roots.setdefault(head.checkpoint.root, set()).update(head.signers)

    def wants(self, size: int) -> bool:
        """Whether a head of this size was kept."""
        return size in self._signed or size in self._unknown

    def passed_over(self, start: int) -> int:
        """Returns how many kept heads are smaller than where the verification began."""
        kept = [*self._signed.items(), *self._unknown.items()]
        return sum(len(heads) for size, heads in kept if size < start)

    def compare(self, size: int, root: bytes, keys: LogKeys | None) -> Iterator[Finding]:
        """Yields a finding for every kept head of this size that has another root, or is not the log's.

        Args:
            keys: of the log at this size; None before its first leaf.
        """
        for note in sorted(self._unknown.pop(size, set())):
            try:
                self._keep(self._known_now(note, keys))
            except VerificationError as error:
                yield Finding.of(error, f"head of size {size}")
        for kept, signers in sorted(self._signed.pop(size, {}).items()):
            self.compared += 1
            try:
                if keys is not None:
                    check_head_signer(signers, keys, size)
            except VerificationError as error:
                yield Finding.of(error, f"head of size {size}")
            if kept != root:
                yield Finding(Code.SPLIT_VIEW, f"head of size {size}", kept.hex(), root.hex())

    def _known_now(self, note: bytes, keys: LogKeys | None) -> VerifiedCheckpoint:
        if keys is None:
            return verify_checkpoint(note, self._trust)
        return verify_old_head(note, self._trust, keys, "the head")

    def beyond(self, size: int) -> Iterator[Finding]:
        """Yields a finding for every kept head that is larger than the log.

        Where a quorum is asked for, only cosigned heads are published: one that is merely signed may lie
        beyond, for as long as witnesses lag. One by an unknown key proves nothing.
        """
        for kept in sorted(known for known in self._signed if known > size):
            severity = ERROR if kept <= self._cosigned else NOTICE
            yield Finding(
                Code.ROLLBACK,
                f"head of size {kept}",
                f"a log of {kept} leaves",
                f"{size} leaves",
                severity,
            )
        for kept in sorted(unknown for unknown in self._unknown if unknown > size):
            expected = "a trusted checkpoint key's signature"
            yield Finding(Code.NOTE_SIGNATURE, f"head of size {kept}", expected, "none")
