"""Cards as one byte each: code = 13 * suit + rank (docs/protocol.md, section Cards).

Suits: clubs 0, diamonds 1, hearts 2, spades 3. Ranks: ace 0 to king 12.
"""

RANKS = "A23456789TJQK"
SUITS = "CDHS"
CARDS_PER_DECK = 52
MAX_DECKS = 8

# Ace 1, two to nine face value, ten to king 0.
RANK_POINTS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0)
POINTS = tuple(RANK_POINTS[code % 13] for code in range(CARDS_PER_DECK))
TEXT = tuple(RANKS[code % 13] + SUITS[code // 13] for code in range(CARDS_PER_DECK))
_CODES = {text: code for code, text in enumerate(TEXT)}


def card_text(code: int) -> str:
    """Returns rank and suit of a card, as `TD` for the ten of diamonds."""
    return TEXT[code]


def parse_card(text: str) -> int:
    """Returns the code of a card's text form.

    Raises:
        ValueError: the text names no card.
    """
    if text not in _CODES:
        raise ValueError(f"no card is written {text!r}")
    return _CODES[text]


def fresh_shoe(decks: int) -> bytes:
    """Returns the order before the shuffle: `decks` times 0..51 ascending.

    Raises:
        ValueError: decks is not 1 to 8.
    """
    if not 1 <= decks <= MAX_DECKS:
        raise ValueError(f"decks must be 1 to {MAX_DECKS}, not {decks}")
    return bytes(range(CARDS_PER_DECK)) * decks
