"""Time from outside: cosignatures and RFC 3161 time stamps over heads, against the times records claim.

A stamp over a head says that every record below it existed then. A record that names the hash of a cosigned
head is younger than that head's cosignatures. Together they bracket a record's time from both sides.
"""

from collections import deque
from collections.abc import Callable
from hashlib import sha256
from itertools import accumulate, pairwise
from typing import Any

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.fold.head_signers import verify_old_head
from sealedshoe_audit.fold.heads import HEAD_WINDOW
from sealedshoe_audit.fold.keys import LogKeys
from sealedshoe_audit.trust import Trust
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.v1.state_pb2 import CosignedHead, TimesSnapshot

SKEW_US = 60_000_000  # clocks of a casino, its witnesses and its time stamp authority may differ by a minute
HEADS_KEPT = 4096  # cosigned heads that a record may still name
STAMPS_LISTED = 100
# Returns a stamp's time in microseconds since 1970, from a TimeStampResp and the bytes it must cover.
StampCheck = Callable[[bytes, bytes], int]


class Times:
    """Follows a log's time stamps and the cosigned heads that its records name.

    Attributes:
        stamps: the newest checked ones, as JSON objects.
        checked, unchecked: how many there were.
        bracketed: openings that are younger than the cosigned head they name.
    """

    def __init__(self, trust: Trust, check_stamp: StampCheck | None) -> None:
        """Without a check, stamps are counted only."""
        self._trust = trust
        self._check_stamp = check_stamp
        self._cosigned: dict[bytes, int] = {}
        self._order: deque[bytes] = deque()
        self._newest_us = 0
        self._size = self._latest_us = 0
        self._latest: deque[int] = deque(
            maxlen=HEAD_WINDOW
        )  # of the records below each newest size
        self.stamps: list[dict[str, Any]] = []
        self.checked = self.unchecked = self.bracketed = 0

    def take(self, time_us: int) -> None:
        """Takes the next leaf's time; 0 for one that has none."""
        self._size += 1
        self._latest_us = max(self._latest_us, time_us)
        self._latest.append(self._latest_us)

    def _know(self, note: bytes, keys: LogKeys) -> int:
        """Takes a stamped head, which may be cosigned; returns its size."""
        head = verify_old_head(note, self._trust, keys, "the stamped head")
        cosigned = head.cosigned
        hashed = sha256(note).digest()
        if cosigned and hashed not in self._cosigned:
            self._remember(hashed, min(cosigned.values()))
        return head.checkpoint.size

    def _remember(self, hashed: bytes, time_s: int) -> None:
        self._cosigned[hashed] = time_s
        self._order.append(hashed)
        if len(self._order) > HEADS_KEPT:
            del self._cosigned[self._order.popleft()]

    def stamp(self, record: pb.TimeStamped, keys: LogKeys) -> None:
        """Takes a time stamp over a head, as the next leaf.

        Args:
            keys: of the log at this leaf.

        Raises:
            VerificationError: TIME_STAMP, RECORD_TIME, or as `verify_old_head`.
        """
        size = self._know(record.checkpoint, keys)
        if self._check_stamp is None:
            self.unchecked += 1
            return
        time_us = self._check_stamp(record.response, record.checkpoint)
        if time_us < self._newest_us:
            raise VerificationError(
                Code.TIME_STAMP, expected=f"{self._newest_us} or later", found=str(time_us)
            )
        self.checked += 1
        self._newest_us = time_us
        stamp = {"authority": "RFC 3161", "time_us": time_us, "size": size}
        self.stamps = [*self.stamps[1 - STAMPS_LISTED :], stamp]
        self._bracket(record, size, time_us)

    def _bracket(self, record: pb.TimeStamped, size: int, time_us: int) -> None:
        """What is below the stamped head existed then, and what holds the stamp did not."""
        if record.header.time_us < time_us - SKEW_US:
            raise VerificationError(
                Code.RECORD_TIME,
                expected=f"a record of {time_us} or later, for it holds that stamp",
                found=str(record.header.time_us),
            )
        latest_us = self._latest_below(size)
        if latest_us > time_us + SKEW_US:
            raise VerificationError(
                Code.RECORD_TIME,
                expected=f"records of {time_us} or earlier, as the stamp over their head",
                found=str(latest_us),
            )

    def _latest_below(self, size: int) -> int:
        """The latest time among the records of a head in the window."""
        offset = size - 1 - (self._size - len(self._latest))
        return self._latest[offset] if 0 <= offset < len(self._latest) else 0

    def opened(self, record: pb.RoundOpened) -> None:
        """Takes a round's opening.

        Raises:
            VerificationError: RECORD_TIME: it claims to be older than the cosigned head that it names.
        """
        cosigned_s = self._cosigned.get(record.cosigned_head_hash)
        if cosigned_s is None:
            return
        self.bracketed += 1
        if record.header.time_us < cosigned_s * 1_000_000 - SKEW_US:
            raise VerificationError(
                Code.RECORD_TIME,
                expected=f"{cosigned_s} s or later, as the cosigned head it names",
                found=str(record.header.time_us),
            )

    def snapshot(self) -> TimesSnapshot:
        """Returns what the next verification needs to go on from here."""
        steps = [after - before for before, after in pairwise([0, *self._latest])]
        return TimesSnapshot(
            newest_stamp_us=self._newest_us,
            cosigned=[CosignedHead(hash=h, time_s=self._cosigned[h]) for h in self._order],
            latest_steps=steps,
        )

    def go_on(self, size: int, snapshot: TimesSnapshot) -> None:
        """Goes on from where another verification stood, at this size."""
        self._size, self._newest_us = size, snapshot.newest_stamp_us
        self._latest.extend(accumulate(snapshot.latest_steps))
        self._latest_us = self._latest[-1] if self._latest else 0
        for head in snapshot.cosigned:
            self._remember(head.hash, head.time_s)
