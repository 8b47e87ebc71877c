"""Heads that somebody kept: each must be a prefix of the log as it is published now."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from sealedshoe_audit.errors import Code
from sealedshoe_audit.log.checkpoint import verify_checkpoint
from sealedshoe_audit.trust import Trust
from sealedshoe_audit.verify.report import ERROR, NOTICE, Finding


class HeadHistory:
    """Compares kept heads with the log as it grows leaf by leaf.

    Attributes:
        compared: heads compared so far.
    """

    def __init__(self, trust: Trust, notes: Iterable[bytes]) -> None:
        """Takes signed checkpoints, with cosignatures or without.

        Raises:
            VerificationError: one is not signed by a trusted key: it proves nothing.
        """
        one_signature = replace(trust, quorum=0)
        self._roots: dict[int, set[bytes]] = {}
        self._cosigned = 0
        self.compared = 0
        for note in notes:
            head = verify_checkpoint(note, one_signature)
            size = head.checkpoint.size
            self._roots.setdefault(size, set()).add(head.checkpoint.root)
            if len(head.cosigned) >= trust.quorum:
                self._cosigned = max(self._cosigned, size)

    def wants(self, size: int) -> bool:
        """Whether a head of this size was kept."""
        return size in self._roots

    def passed_over(self, start: int) -> int:
        """Returns how many kept heads are smaller than where the verification began."""
        return sum(len(roots) for size, roots in self._roots.items() if size < start)

    def compare(self, size: int, root: bytes) -> Iterator[Finding]:
        """Yields a finding for every kept head of this size that has another root."""
        for kept in sorted(self._roots.pop(size)):
            self.compared += 1
            if kept != root:
                yield Finding(Code.SPLIT_VIEW, f"head of size {size}", kept.hex(), root.hex())

    def beyond(self, size: int) -> Iterator[Finding]:
        """Yields a finding for every kept head that is larger than the log.

        Where a quorum is asked for, only cosigned heads are published: one that is merely signed may lie
        beyond, for as long as witnesses lag.
        """
        for kept in sorted(known for known in self._roots if known > size):
            severity = ERROR if kept <= self._cosigned else NOTICE
            yield Finding(
                Code.ROLLBACK,
                f"head of size {kept}",
                f"a log of {kept} leaves",
                f"{size} leaves",
                severity,
            )
