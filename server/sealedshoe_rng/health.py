"""Continuous health tests on source bytes, in the style of NIST SP 800-90B section 4.4.

Cut-offs for a claimed 8 bits a byte and a false-alarm rate of 2^-30 a test: repetition count 5,
adaptive proportion 16 in windows of 512. They find a dead or stuck source; they prove no entropy.
Two reads in a row must differ as well, which catches a source that repeats itself wholesale.
"""

import re

REPETITION_CUTOFF = 5  # SP 800-90B 4.4.1: 1 + ceil(30 / 8)
PROPORTION_CUTOFF = 16  # SP 800-90B 4.4.2: 1 + critbinom(512, 2^-8, 1 - 2^-30)
PROPORTION_WINDOW = 512
STARTUP_BYTES = 4096
COMPARED_BYTES = 16  # equal by chance once in 2^128
_REPEATED = re.compile(rb"(.)\1{%d}" % (REPETITION_CUTOFF - 1), re.DOTALL)


class HealthFailure(Exception):
    """A source failed a test; the text names test and source, never the bytes."""


class SourceHealth:
    """Watches one source; every byte read from it passes through `check`."""

    def __init__(self, name: str) -> None:
        """Names the source in failures."""
        self._name = name
        self._tail = b""
        self._window = bytearray()
        self._last = b""

    def check(self, data: bytes) -> None:
        """Looks at the bytes of one read.

        Raises:
            HealthFailure: a cut-off is reached, or the read begins like the one before.
        """
        start = data[:COMPARED_BYTES]
        if len(start) == COMPARED_BYTES and start == self._last:
            raise HealthFailure(f"{self._name}: two reads in a row begin alike")
        self._last = start
        if _REPEATED.search(self._tail + data):
            raise HealthFailure(f"{self._name}: repetition count test")
        self._tail = (self._tail + data)[-(REPETITION_CUTOFF - 1) :]
        self._window += data
        while len(self._window) >= PROPORTION_WINDOW:
            window = self._window[:PROPORTION_WINDOW]
            del self._window[:PROPORTION_WINDOW]
            if window.count(window[0]) >= PROPORTION_CUTOFF:
                raise HealthFailure(f"{self._name}: adaptive proportion test")
