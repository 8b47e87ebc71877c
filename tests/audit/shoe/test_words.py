"""Draws are uniform, rejected words are skipped, and an exhausted stream is a fault."""

from collections import Counter
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealedshoe_audit.shoe.words import WordsExhausted, draw, shuffle

WORDS = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("m", range(2, 417))
def test_the_first_rejected_word_is_the_largest_multiple_of_m(m: int) -> None:
    rest = 2**32 % m
    accepted = 2**32 - rest - 1
    assert draw(iter([accepted]), m) == m - 1
    if rest:
        assert draw(iter([accepted + 1, 7 * m + 1]), m) == 1
        assert draw(iter([2**32 - 1, accepted + 1, 0]), m) == 0
        with pytest.raises(WordsExhausted):
            draw(iter([accepted + 1]), m)
    else:
        assert draw(iter([2**32 - 1]), m) == m - 1


@pytest.mark.parametrize(
    ("m", "first_rejected"), [(3, 4294967295), (52, 4294967248), (416, 4294967040)]
)
def test_the_boundary_is_the_one_worked_out_by_hand(m: int, first_rejected: int) -> None:
    assert draw(iter([first_rejected, 2]), m) == 2
    assert draw(iter([first_rejected - 1, 2]), m) == m - 1


def test_one_of_one_is_always_0_and_takes_a_word() -> None:
    words = iter([2**32 - 1, 5])
    assert draw(words, 1) == 0
    assert next(words) == 5


def test_a_draw_takes_no_word_more_than_it_needs() -> None:
    words = iter([2**32 - 1, 10, 11])
    assert draw(words, 3) == 1
    assert list(words) == [11]


@pytest.mark.parametrize("words", [[], [2**32 - 1], [2**32 - 1] * 100])
def test_a_stream_that_ends_before_the_draw_is_a_fault(words: list[int]) -> None:
    with pytest.raises(WordsExhausted):
        draw(iter(words), 3)


def test_three_items_come_in_six_orders_equally_often() -> None:
    orders = Counter(shuffle(b"abc", words) for words in product(range(6), repeat=2))
    assert len(orders) == 6
    assert set(orders.values()) == {6}


def test_four_items_come_in_24_orders_equally_often() -> None:
    orders = Counter(shuffle(b"abcd", words) for words in product(range(12), repeat=3))
    assert len(orders) == 24
    assert set(orders.values()) == {72}


def test_each_of_five_items_reaches_each_place_equally_often() -> None:
    places: Counter[tuple[int, int]] = Counter()
    for words in product(range(5), range(4), range(3), range(2)):
        places.update(enumerate(shuffle(bytes(range(5)), words)))
    assert set(places.values()) == {120 // 5}
    assert len(places) == 25


def test_the_swaps_go_from_the_last_position_down() -> None:
    assert shuffle(b"abcd", [0, 0, 0]) == b"bcda"
    assert shuffle(b"abcd", [3, 2, 1]) == b"abcd"
    assert shuffle(b"abcd", [1, 2, 0]) == b"dacb"


def test_rejected_words_are_skipped_inside_a_shuffle() -> None:
    assert shuffle(b"abc", [2**32 - 1, 4, 0]) == shuffle(b"abc", [4, 0])


def test_a_shuffle_takes_one_word_for_each_swap() -> None:
    words = iter(range(100, 200))
    shuffle(bytes(range(52)), words)
    assert next(words) == 151


@pytest.mark.parametrize("given_words", [0, 1, 50])
def test_a_shuffle_without_enough_words_is_a_fault(given_words: int) -> None:
    with pytest.raises(WordsExhausted):
        shuffle(bytes(range(52)), [0] * given_words)


@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=60), st.lists(WORDS, min_size=80, max_size=80))
def test_a_shuffle_loses_and_invents_no_card(fresh: bytes, words: list[int]) -> None:
    before = bytes(fresh)
    assert sorted(shuffle(fresh, words)) == sorted(before)
    assert fresh == before


@settings(deadline=None, max_examples=200)
@given(st.integers(1, 416), st.lists(WORDS, min_size=4, max_size=4))
def test_a_draw_is_the_first_accepted_word_modulo_m(m: int, words: list[int]) -> None:
    accepted = [word for word in words if word < 2**32 - 2**32 % m]
    if accepted:
        assert draw(iter(words), m) == accepted[0] % m
