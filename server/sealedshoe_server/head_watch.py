"""Streams the heads archive: every head as it was signed, and again as it was cosigned."""

import asyncio
from collections.abc import AsyncIterator

from sealedshoe_audit.keeping.head_archive import HeadArchive
from sealedshoe_audit.log.checkpoint import parse_checkpoint
from sealedshoe_audit.log.note import TYPE_COSIGNATURE, VerifierKey, parse_note
from sealedshoe_server.errors import GameError, Reason


class HeadWatch:
    """Follows one archive."""

    def __init__(self, archive: HeadArchive, witnesses: tuple[VerifierKey, ...]) -> None:
        """Takes the archive, and the keys whose lines make a head cosigned."""
        self._archive = archive
        self._witnesses = {(key.name, key.id) for key in witnesses if key.type == TYPE_COSIGNATURE}
        self._grown = asyncio.Event()
        self._draining = False

    def grew(self) -> None:
        """Wakes all who follow: the archive has more."""
        self._grown.set()
        self._grown = asyncio.Event()

    def drain(self) -> None:
        """Ends all who follow."""
        self._draining = True
        self.grew()

    async def follow(self, after_size: int | None) -> AsyncIterator[tuple[bytes, bool]]:
        """Yields (note, whether it is cosigned) of larger heads; None: of those to come.

        Raises:
            GameError: SERVER_DRAINING.
        """
        offset = self._archive.size if after_size is None else 0
        while True:
            grown = self._grown
            end = self._archive.size
            async for note in self._between(offset, end):
                parsed = parse_note(note)
                if after_size is None or parse_checkpoint(parsed.text).size > after_size:
                    lines = {(line.name, line.id) for line in parsed.signatures}
                    yield note, bool(lines & self._witnesses)
            offset = end
            if self._draining:
                raise GameError(Reason.SERVER_DRAINING, "resume elsewhere", retry_after_ms=1000)
            if self._archive.size == end:
                await grown.wait()

    async def _between(self, start: int, end: int) -> AsyncIterator[bytes]:
        """Reads in steps, so that a long archive holds nobody up."""
        while start < end:
            notes, start = self._archive.read_between(start, end)
            for note in notes:
                yield note
            await asyncio.sleep(0)
