"""A resource name has one form."""

import pytest

from sealedshoe_audit.names import (
    game_name,
    parse_game_name,
    parse_round_name,
    parse_table_name,
    round_name,
    table_name,
)

BAD_IDS = ["", "A", "ä", "a b", "a_b", "a/b", "..", "7\n", "x" * 41]
BAD_NUMBERS = ["", "0", "01", "-1", "+1", "1.0", "1 ", "x", "²", "1" * 20]


def test_names_are_built_and_read_back() -> None:
    assert table_name("vip-7") == "tables/vip-7"
    assert parse_table_name("tables/vip-7") == "vip-7"
    assert round_name("7", 12) == "tables/7/rounds/12"
    assert parse_round_name("tables/7/rounds/12") == ("7", 12)
    assert game_name("shoe-8d", 1) == "games/shoe-8d/versions/1"
    assert parse_game_name("games/shoe-8d/versions/1") == ("shoe-8d", 1)
    assert parse_table_name("tables/" + "x" * 40) == "x" * 40


@pytest.mark.parametrize("bad", BAD_IDS)
def test_an_id_of_another_form_names_nothing(bad: str) -> None:
    assert parse_table_name(f"tables/{bad}") is None
    assert parse_round_name(f"tables/{bad}/rounds/1") is None
    assert parse_game_name(f"games/{bad}/versions/1") is None


@pytest.mark.parametrize("bad", BAD_NUMBERS)
def test_a_number_of_another_form_names_nothing(bad: str) -> None:
    assert parse_round_name(f"tables/7/rounds/{bad}") is None
    assert parse_game_name(f"games/g/versions/{bad}") is None


@pytest.mark.parametrize("name", ["table/7", "tables/7/", " tables/7", "tables/7/rounds", "7"])
def test_another_collection_names_nothing(name: str) -> None:
    assert parse_table_name(name) is None
    assert parse_round_name(name) is None
