"""A card is one byte, and has one text and one value."""

from collections import Counter

import pytest

from sealedshoe_audit.baccarat.cards import POINTS, card_text, fresh_shoe, parse_card


@pytest.mark.parametrize(
    ("code", "text", "points"),
    [
        (0, "AC", 1),
        (8, "9C", 9),
        (9, "TC", 0),
        (12, "KC", 0),
        (13, "AD", 1),
        (22, "TD", 0),
        (26, "AH", 1),
        (36, "JH", 0),
        (39, "AS", 1),
        (43, "5S", 5),
        (50, "QS", 0),
        (51, "KS", 0),
    ],
)
def test_a_code_is_13_times_suit_plus_rank(code: int, text: str, points: int) -> None:
    assert card_text(code) == text
    assert parse_card(text) == code
    assert POINTS[code] == points


def test_a_deck_has_sixteen_cards_worth_nothing_and_four_of_each_other_value() -> None:
    assert Counter(POINTS) == {0: 16} | dict.fromkeys(range(1, 10), 4)


def test_every_text_is_distinct_and_read_back() -> None:
    texts = [card_text(code) for code in range(52)]
    assert len(set(texts)) == 52
    assert [parse_card(text) for text in texts] == list(range(52))


@pytest.mark.parametrize("text", ["", "T", "10D", "td", "DT", "TD ", "1C", "XX", "TDD"])
def test_another_text_names_no_card(text: str) -> None:
    with pytest.raises(ValueError, match="no card"):
        parse_card(text)


@pytest.mark.parametrize("decks", range(1, 9))
def test_a_fresh_shoe_holds_every_card_once_a_deck_in_ascending_order(decks: int) -> None:
    shoe = fresh_shoe(decks)
    assert shoe[:52] == bytes(range(52))
    assert shoe == shoe[:52] * decks
    assert len(shoe) == 52 * decks


@pytest.mark.parametrize("decks", [-1, 0, 9])
def test_a_shoe_has_one_to_eight_decks(decks: int) -> None:
    with pytest.raises(ValueError, match="1 to 8"):
        fresh_shoe(decks)
