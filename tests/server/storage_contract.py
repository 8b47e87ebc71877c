"""What every storage engine must do. An engine's test file subclasses this and gives it `open_store`."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from sealedshoe_server.storage.interface import (
    Batch,
    Committed,
    Dropped,
    DuplicateSeed,
    PlayerRow,
    RoundQuery,
    RoundState,
    Store,
    StoredShoe,
)
from tests.server.batches import (
    asked,
    ended,
    loose,
    opened,
    player,
    shoe_closed,
    shoe_opened,
    step,
)
from tests.server.reading import leaf, root_of, tile_files

OpenStore = Callable[[], Store]
EVERYTHING = RoundQuery(None, None, None, None, None, None, None, 100)


def query(**filters: object) -> RoundQuery:
    """A query with these filters alone."""
    given = {name: filters.get(name, getattr(EVERYTHING, name)) for name in RoundQuery.__slots__}
    return RoundQuery(**given)  # type: ignore[arg-type]


def check_tree(store: Store) -> list[bytes]:
    """Head, tiles and entries of a store agree with RFC 6962; returns the entries."""
    head = store.head().head
    entries = store.read(0, head.size + 1)
    assert len(entries) == head.size
    assert head.root == root_of([leaf(entry) for entry in entries])
    for path, content in tile_files(entries).items():
        _, level, rest = path.split("/", 2)
        if level != "entries":
            index, _, width = rest.partition(".p/")  # below 1,000 tiles, an index is one group
            assert store.tile(int(level), int(index), int(width or 256)) == content
    return entries


class StorageContract:
    """`open_store()` opens the same log, each time anew."""

    @pytest.fixture
    def store(self, open_store: OpenStore) -> Store:
        return open_store()

    def test_a_new_log_is_empty(self, store: Store) -> None:
        """Size 0, and the root of nothing."""
        assert store.head().head.size == 0
        assert check_tree(store) == []
        assert (store.tables(), store.games(), store.rounds(EVERYTHING)) == ([], [], [])

    def test_entries_stay_in_order_under_the_committed_head(self, store: Store) -> None:
        """Across groups, entries are read as they were appended and the root is RFC 6962's."""
        head, outcomes = store.append([loose("a", "b"), loose("c")], 7)
        assert outcomes == [
            Committed(0, b"0/3 " + leaf(b"b") + leaf(b"c")),
            Committed(2, b"2/3 " + root_of([leaf(b"a"), leaf(b"b")])),
        ]
        assert (head.head.size, head.time_us) == (3, 7)
        assert head == store.head()
        store.append([loose("d")], 8)
        assert check_tree(store) == [b"a", b"b", b"c", b"d"]

    def test_a_range_of_entries_is_read(self, store: Store) -> None:
        """From any index, at most the limit, and nothing beyond the end."""
        store.append([loose(*"abcdefg")], 1)
        assert store.read(2, 3) == [b"c", b"d", b"e"]
        assert store.read(5, 100) == [b"f", b"g"]
        assert store.read(7, 1) == []

    def test_tiles_are_right_at_every_size(self, store: Store) -> None:
        """Past the first full tile and the first level, each hash is RFC 6962's."""
        store.append([loose(*(f"{i}" for i in range(250)))], 1)
        for size in range(250, 262):
            assert len(check_tree(store)) == size
            store.append([loose(f"{size}")], 1)
        store.append([loose(*(f"{i}" for i in range(263, 520)))], 1)
        check_tree(store)
        assert store.tile(0, 3, 1) is None
        assert store.tile(1, 0, 3) is None
        assert store.tile(2, 0, 1) is None

    def test_complete_subtrees_are_hashed(self, store: Store) -> None:
        """At every level, stored or folded."""
        names = [f"{i}" for i in range(600)]
        store.append([loose(*names)], 1)
        leaves = [leaf(name.encode()) for name in names]
        for level in range(10):
            for index in range(600 >> level):
                low = index << level
                expected = root_of(leaves[low : low + (1 << level)])
                assert store.complete_hash(level, index) == expected

    def test_a_stale_table_drops_only_its_own_batch(self, store: Store) -> None:
        """The batch made on an old state leaves no trace; the others of its group are written."""
        store.append([step("t", 0)], 1)
        batches = [loose("a"), step("t", 0, opened(1)), step("u", 0), step("t", 1)]
        _, outcomes = store.append(batches, 2)
        assert [type(outcome) for outcome in outcomes] == [Committed, Dropped, Committed, Committed]
        assert outcomes[1] is Dropped.STALE_TABLE
        assert check_tree(store) == [b"t 1", b"a", b"u 1", b"t 2"]
        assert store.rounds(EVERYTHING) == []

    def test_a_batch_from_the_future_is_stale(self, store: Store) -> None:
        """Compare-and-swap is on equality."""
        _, outcomes = store.append([step("t", 1), step("u", 0)], 1)
        assert outcomes[0] is Dropped.STALE_TABLE
        assert check_tree(store) == [b"u 1"]

    def test_two_batches_of_one_table_in_a_group_are_one_too_many(self, store: Store) -> None:
        """The second was decided on a state that the first has left."""
        _, outcomes = store.append([step("t", 0), step("t", 1), step("t", 0, text="x")], 1)
        assert outcomes[1:] == [Dropped.STALE_TABLE] * 2
        assert check_tree(store) == [b"t 1"]

    def test_a_group_of_dropped_batches_makes_no_head(self, store: Store) -> None:
        """The head stays as it was, to the byte and the time."""
        before, _ = store.append([step("t", 0)], 1)
        after, outcomes = store.append([step("t", 0), step("t", 5)], 2)
        assert outcomes == [Dropped.STALE_TABLE] * 2
        assert after == before == store.head()

    def test_a_request_id_is_used_once(self, store: Store) -> None:
        """Later, by the same caller, whatever the table: dropped without a trace."""
        store.append([step("t", 0, request=asked("r"))], 1)
        _, outcomes = store.append([step("u", 0, request=asked("r")), loose("a")], 2)
        assert outcomes[0] is Dropped.REQUEST_TAKEN
        assert store.table("u") is None
        assert check_tree(store) == [b"t 1", b"a"]

    def test_a_request_id_is_used_once_in_a_group(self, store: Store) -> None:
        """Of two batches with one id, the first is written."""
        batches = [loose("a", request=asked("r")), step("t", 0, request=asked("r"))]
        _, outcomes = store.append(batches, 1)
        assert outcomes[1] is Dropped.REQUEST_TAKEN
        assert check_tree(store) == [b"a"]
        _, outcomes = store.append([step("t", 0)], 2)
        assert isinstance(outcomes[0], Committed)

    def test_request_ids_belong_to_their_caller(self, store: Store) -> None:
        """Two callers may use one id."""
        batches = [loose("a", request=asked("r", "x")), loose("b", request=asked("r", "y"))]
        _, outcomes = store.append(batches, 1)
        assert all(isinstance(outcome, Committed) for outcome in outcomes)
        assert store.answer("z", "r") is None

    def test_a_stale_batch_leaves_its_request_id_free(self, store: Store) -> None:
        """A refused call may be tried again under its id, in the same group even."""
        batches = [step("t", 9, request=asked("r")), step("t", 0, request=asked("r"))]
        _, outcomes = store.append(batches, 1)
        assert outcomes[0] is Dropped.STALE_TABLE
        assert isinstance(outcomes[1], Committed)

    def test_answers_are_stored_and_read_again(self, store: Store, open_store: OpenStore) -> None:
        """The bytes, the request's hash and the head they end in; also after reopening."""
        head, outcomes = store.append([loose("a", "b", request=asked("r"))], 1)
        store.append([loose("c")], 2)
        assert isinstance(outcomes[0], Committed)
        for reader in (store, open_store()):
            found = reader.answer("caller", "r")
            assert found is not None
            assert found.answer == outcomes[0].answer == b"0/2 " + leaf(b"b")
            assert (found.request_hash, found.head) == (leaf(b"body"), head)
            assert found.round == "tables/t/rounds/1"

    def test_expired_answers_leave_their_ids(self, store: Store) -> None:
        """Bytes older than the limit go, once; ids stay taken for ever."""
        for time in (10, 20, 30):
            store.append([loose(f"{time}", request=asked(f"r{time}"))], time)
        assert store.expire_answers(30) == 2
        assert store.expire_answers(30) == 0
        answers = [store.answer("caller", f"r{time}") for time in (10, 20, 30)]
        assert [found is not None and found.answer is not None for found in answers] == [
            False,
            False,
            True,
        ]
        assert answers[0] is not None
        assert answers[0].round == "tables/t/rounds/1"
        _, outcomes = store.append([loose("again", request=asked("r10"))], 40)
        assert outcomes == [Dropped.REQUEST_TAKEN]

    def test_a_game_version_is_installed_once(self, store: Store) -> None:
        """A second batch for it is dropped; the index names the first's leaf."""
        game, again = loose("game"), loose("other")
        _, outcomes = store.append([loose("a"), _game(game), _game(again, 2)], 1)
        assert all(isinstance(outcome, Committed) for outcome in outcomes)
        _, outcomes = store.append([_game(again), loose("b")], 2)
        assert outcomes[0] is Dropped.STALE_TABLE
        assert store.games() == [1, 2]

    def test_tables_are_kept_with_their_newest_snapshot(self, store: Store) -> None:
        """Sequence, snapshot and the reason why no round is open, by table id."""
        store.append([step("u", 0), step("t", 0, count=2)], 1)
        store.append([step("u", 1, reason="RNG_FAILED")], 2)
        rows = [(t.table, t.sequence, t.snapshot, t.no_round_reason) for t in store.tables()]
        assert rows == [("t", 2, b"snapshot 2", ""), ("u", 2, b"snapshot 2", "RNG_FAILED")]
        assert store.table("u") == store.tables()[1]
        assert store.table("v") is None

    def test_a_tables_records_are_read_after_a_sequence(self, store: Store) -> None:
        """In order, with their leaf indexes, and only that table's."""
        store.append([loose("x"), step("t", 0, count=2), step("u", 0)], 1)
        store.append([step("t", 2)], 2)
        expected = [(1, 1, b"t 1"), (2, 2, b"t 2"), (3, 4, b"t 3")]
        assert store.table_entries("t", 0, 10) == expected
        assert store.table_entries("t", 1, 1) == expected[1:2]
        assert store.table_entries("t", 3, 10) == []
        assert store.table_entries("", 0, 10) == []

    def test_rounds_and_shoes_are_indexed_from_opening_to_end(self, store: Store) -> None:
        """A round's row follows its records; a shoe's names its opening and its reveal."""
        store.append([step("t", 0, opened(1), shoe_opened(1))], 1)
        row = store.round("t", 1)
        assert row is not None
        assert (row.state, row.opened_index, row.result_index) == (RoundState.OPEN, 0, None)
        ends = (ended(1), shoe_closed(1), opened(2, 2, 1), shoe_opened(2))
        store.append([loose("x"), step("t", 1, *ends, count=2)], 2)
        row = store.round("t", 1)
        assert row is not None
        assert (row.state, row.opened_index, row.result_index) == (RoundState.DEALT, 0, 2)
        assert store.shoe("t", 1) == StoredShoe(1, 0, 2)
        assert store.sealed_seed(leaf(b"seed t 1")) == b"sealed"
        assert store.sealed_seed(leaf(b"another")) is None
        assert (store.round("t", 3), store.shoe("t", 3)) == (None, None)

    def test_rounds_are_listed_newest_first_by_filters(self, store: Store) -> None:
        """Table, player, shoe, state, time and page; each alone and the player across tables."""
        store.append([step("t", 0, opened(1, at=10), shoe_opened(1))], 1)
        store.append([step("u", 0, opened(1, at=10), shoe_opened(1, "u"))], 1)
        rows = (player(1, "w", "alice"), ended(1), opened(2, 1, 1, at=20))
        store.append([step("t", 1, *rows, count=2)], 2)
        store.append([step("u", 1, player(1, "w", "alice"), player(1, "x", "bob"))], 3)

        def listed(**filters: object) -> list[str]:
            return [f"{r.table}{r.round_number}" for r in store.rounds(query(**filters))]

        assert listed() == ["t2", "u1", "t1"]
        assert listed(limit=2) == ["t2", "u1"]
        assert listed(below_index=1) == ["t1"]
        assert listed(table="t") == ["t2", "t1"]
        assert listed(player="alice") == ["u1", "t1"]
        assert listed(player="bob", table="t") == []
        assert listed(state=RoundState.DEALT) == ["t1"]
        assert listed(opened_from_us=20) == ["t2"]
        assert listed(opened_before_us=20) == ["u1", "t1"]
        assert listed(shoe_number=2) == []

    def test_players_of_a_round_are_kept(self, store: Store) -> None:
        """Reference and salt by wager, and of that round alone."""
        store.append([step("t", 0, opened(1), shoe_opened(1))], 1)
        store.append([step("t", 1, player(1, "w", "alice"), player(1, "x", "bob"))], 1)
        assert sorted(store.players("t", 1), key=lambda row: row.wager_id) == [
            PlayerRow(1, "w", "alice", b"s" * 16),
            PlayerRow(1, "x", "bob", b"s" * 16),
        ]
        assert list(store.players("u", 1)) == []

    def test_a_seed_that_the_log_has_already_fails_the_whole_group(self, store: Store) -> None:
        """Nothing of the group is written, and the failure says what it is."""
        store.append([step("t", 0, opened(1), shoe_opened(1))], 1)
        before = store.head()
        twice = step("u", 0, opened(1), shoe_opened(1))
        with pytest.raises(DuplicateSeed):
            store.append([loose("a"), twice], 2)
        assert store.head() == before
        assert check_tree(store) == [b"t 1"]

    def test_an_entry_beyond_65535_bytes_fails_the_group(self, store: Store) -> None:
        """The limit of a bundle; one byte less is taken."""
        store.append([loose("a" * 65_535)], 1)
        before = store.head()
        with pytest.raises(Exception, match="65,535"):
            store.append([loose("b"), loose("a" * 65_536)], 2)
        assert store.head() == before
        assert len(check_tree(store)) == 1

    def test_everything_is_found_after_reopening(self, store: Store, open_store: OpenStore) -> None:
        """What was committed is the same for whoever opens the log next, and for a reload."""
        store.append([step("t", 0, opened(1), shoe_opened(1)), loose("a")], 1)
        entries, head = check_tree(store), store.head()
        again = open_store()
        assert (check_tree(again), again.head()) == (entries, head)
        store.reload()
        assert (check_tree(store), store.head()) == (entries, head)
        store.append([step("t", 1)], 2)
        assert again.head().head.size == 3

    def test_the_head_that_covers_a_leaf_is_the_one_it_was_committed_under(
        self, store: Store
    ) -> None:
        """Each leaf of a group leads to that group's head."""
        first, _ = store.append([loose("a", "b")], 1)
        second, _ = store.append([loose("c"), loose("d")], 2)
        covering = [store.head_covering(index) for index in range(4)]
        assert covering == [first, first, second, second]

    def test_key_changes_and_time_stamps_are_found_by_their_kind(self, store: Store) -> None:
        """The leaf indexes of all changes, and of the newest stamp."""
        assert (store.key_changes(), store.newest_time_stamp()) == ([], None)
        change, stamp = (
            replace(loose("c"), changes_key=True),
            replace(loose("s"), stamps_time=True),
        )
        store.append([loose("a"), stamp, change], 1)
        store.append([stamp, loose("b"), change], 2)
        assert (store.key_changes(), store.newest_time_stamp()) == ([2, 5], 3)


def _game(batch: Batch, version: int = 1) -> Batch:
    return replace(batch, game=("g", version))
