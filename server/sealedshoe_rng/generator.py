"""The root of the certified RNG, and the one exit of shoe seeds.

Root: one HMAC_DRBG-SHA-512 a process, instantiated from getrandom and every second source, reseeded
from all of them before every shoe, with the shoe's identity, boot id, process id and the newest head's
root as additional input, so that clones of a machine diverge. A forked child instantiates anew.

No seed can be handed in, and none can be drawn twice: replay is another program.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from sealedshoe_audit.framing import lp
from sealedshoe_audit.hmac_drbg import HmacDrbg
from sealedshoe_audit.shoe.seed import seed_bytes
from sealedshoe_rng.health import STARTUP_BYTES, HealthFailure, SourceHealth
from sealedshoe_rng.known_answers import KnownAnswerFailure, check_known_answers
from sealedshoe_rng.sources import EntropySource

PERSONALIZATION = b"sealedshoe/v1/root\x00"
SOURCE_BYTES = 48  # of each source at each reseed: 32 entropy, 16 to spare
INSTANCE_BYTES = 16


class RngFailed(Exception):
    """No seed can be drawn until an operator resumes; the text is the reason, free of secrets."""


@dataclass(frozen=True, slots=True, repr=False)
class SeedDraw:
    """One seed, once.

    Attributes:
        instance: 16 bytes naming the RNG instance.
        counter: 1 for its first seed, +1 for each.
    """

    seed: bytes
    instance: bytes
    counter: int


class CertifiedRng:
    """The generator of a process. Not for threads: one caller at a time."""

    def __init__(
        self, os_source: EntropySource, second_sources: Sequence[EntropySource], boot_id: str
    ) -> None:
        """Runs the start-up tests and instantiates; a failure is kept, not raised.

        Args:
            second_sources: beside the operating system's; may be empty.
            boot_id: the machine's, as text.
        """
        self._os_source = os_source
        self._sources = (os_source, *second_sources)
        self._boot_id = boot_id
        self.failure: str | None = None
        self.resume()

    def resume(self) -> bool:
        """Runs the start-up tests again and instantiates anew; says whether the RNG is healthy."""
        self.failure = None
        try:
            check_known_answers()
            self._start()
        except (HealthFailure, KnownAnswerFailure, OSError) as error:
            self.failure = str(error)
        return self.failure is None

    def _start(self) -> None:
        self._health = {source.name: SourceHealth(source.name) for source in self._sources}
        for source in self._sources:
            self._read(source, STARTUP_BYTES)
        self._pid = os.getpid()
        self._root = HmacDrbg(
            self._fresh(), self._read(self._os_source, 16), PERSONALIZATION + self._place()
        )
        self.instance = self._read(self._os_source, INSTANCE_BYTES)
        self.counter = 0

    def _read(self, source: EntropySource, size_bytes: int) -> bytes:
        data = source.read(size_bytes)
        if len(data) != size_bytes:
            raise HealthFailure(f"{source.name}: gave {len(data)} of {size_bytes} bytes")
        self._health[source.name].check(data)
        return data

    def _fresh(self) -> bytes:
        return b"".join(self._read(source, SOURCE_BYTES) for source in self._sources)

    def _place(self) -> bytes:
        return lp(self._boot_id.encode()) + self._pid.to_bytes(8, "big")

    def draw_seed(self, identity: bytes, decks: int, head_root: bytes) -> SeedDraw:
        """Draws the seed of one shoe.

        Args:
            identity: as `framing.shoe_identity` returns it.
            head_root: of the newest head, 32 bytes.

        Raises:
            RngFailed: now, or since an earlier failure.
        """
        if self.failure is not None:
            raise RngFailed(self.failure)
        try:
            if os.getpid() != self._pid:
                self._start()
            size = seed_bytes(decks)
            self._root.reseed(self._fresh(), lp(identity) + self._place() + head_root)
            os_bytes = self._read(self._os_source, size)
        except (HealthFailure, OSError) as error:
            self.failure = str(error)
            raise RngFailed(self.failure) from error
        root_bytes = self._root.generate(size)
        mixed = int.from_bytes(os_bytes, "big") ^ int.from_bytes(root_bytes, "big")
        self.counter += 1
        return SeedDraw(mixed.to_bytes(size, "big"), self.instance, self.counter)

    def random_bytes(self, size_bytes: int) -> bytes:
        """Returns bytes for salts, keys and ids: straight from the operating system.

        They decide no outcome, and must be had while the RNG is failed, for standing wagers to be dealt.
        """
        data = self._os_source.read(size_bytes)
        if len(data) != size_bytes:
            raise OSError(f"{self._os_source.name} gave {len(data)} of {size_bytes} bytes")
        return data
