"""Unbiased draws from a finite stream of 32-bit words."""

from collections.abc import Iterable, Iterator
from itertools import islice

_WORD_RANGE = 2**32
# Of m possible values: words at or above the largest multiple of m are rejected.
_ACCEPT_BELOW = tuple(
    _WORD_RANGE - _WORD_RANGE % m if m else 0 for m in range(417)
)  # 416 is the largest shoe


class WordsExhausted(Exception):
    """The stream ended before the draw: an RNG fault. Never answered with another seed."""


def draw(words: Iterator[int], m: int) -> int:
    """Returns a number uniform in 0..m-1, consuming one word or more.

    Args:
        words: uint32 values.
        m: 1 to 416.

    Raises:
        WordsExhausted: the stream ended.
    """
    limit = _ACCEPT_BELOW[m]
    for word in words:
        if word < limit:
            return word % m
    raise WordsExhausted(f"no word left to draw one of {m}")


def shuffle(fresh: bytes, words: Iterable[int]) -> bytes:
    """Returns the order dealt from position 0 up: Fisher-Yates, i from n-1 down to 1, j = draw(i+1).

    Raises:
        WordsExhausted: too many rejected words.
    """
    cards = list(fresh)
    left = len(cards)
    stream = iter(words)
    for word in islice(stream, max(0, left - 1)):
        # as draw does, without a call unless the first word is rejected
        j = word % left if word < _ACCEPT_BELOW[left] else draw(stream, left)
        left -= 1
        cards[left], cards[j] = cards[j], cards[left]
    if left > 1:
        draw(stream, left)  # raises: the stream ended
    return bytes(cards)
