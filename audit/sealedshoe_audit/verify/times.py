"""Time from outside: cosignatures and RFC 3161 time stamps over heads, against the times records claim.

A stamp over a head says that every record below it existed then. A record that names the hash of a cosigned
head is younger than that head's cosignatures. Together they bracket a record's time from both sides.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from typing import Any

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.checkpoint import verify_checkpoint
from sealedshoe_audit.trust import Trust
from sealedshoe_audit.v1 import records_pb2 as pb

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
        self._trust = replace(trust, quorum=0)  # what was stamped met the quorum of its time
        self._check_stamp = check_stamp
        self._cosigned: dict[bytes, int] = {}
        self._order: deque[bytes] = deque()
        self._newest_us = 0
        self.stamps: list[dict[str, Any]] = []
        self.checked = self.unchecked = self.bracketed = 0

    def know(self, note: bytes) -> int:
        """Takes a head that may be cosigned; returns its size.

        Raises:
            VerificationError: as `verify_checkpoint`.
        """
        head = verify_checkpoint(note, self._trust)
        cosigned = head.cosigned
        hashed = sha256(note).digest()
        if cosigned and hashed not in self._cosigned:
            self._cosigned[hashed] = min(cosigned.values())
            self._order.append(hashed)
            if len(self._order) > HEADS_KEPT:
                del self._cosigned[self._order.popleft()]
        return head.checkpoint.size

    def stamp(self, record: pb.TimeStamped, index: int) -> None:
        """Takes a time stamp over a head.

        Raises:
            VerificationError: TIME_STAMP, or as `verify_checkpoint`.
        """
        size = self.know(record.checkpoint)
        if self._check_stamp is None:
            self.unchecked += 1
            return
        time_us = self._check_stamp(record.response, record.checkpoint)
        if time_us < self._newest_us:
            raise VerificationError(
                Code.TIME_STAMP, expected="stamps in the order of time", found=f"leaf {index}"
            )
        self.checked += 1
        self._newest_us = time_us
        stamp = {"authority": "RFC 3161", "time_us": time_us, "size": size}
        self.stamps = [*self.stamps[1 - STAMPS_LISTED :], stamp]
        if record.header.time_us < time_us - SKEW_US:
            raise VerificationError(
                Code.RECORD_TIME,
                expected=f"a record of {time_us} or later, for it holds that stamp",
                found=str(record.header.time_us),
            )

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
