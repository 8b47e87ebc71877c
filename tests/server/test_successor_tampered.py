"""A successor that tells anything else of the old log's end is found out, though its own keys signed it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from sealedshoe_audit.records import open_record
from sealedshoe_audit.v1 import records_pb2 as pb
from tests.audit.forge.log import payload_type, sign_head, sign_payload
from tests.server.conftest import servers_in
from tests.server.copies import back_up, put_back
from tests.server.handing_over import NEXT, FileSource, Recovery, codes, handed_over
from tests.server.reading import MemorySource, leaf, root_of, stored_entries, stored_records
from tests.server.rotating import nothing
from tests.server.running import wager

Records = list[Any]
Tamper = Callable[[Records], object]


@dataclass(frozen=True)
class Story:
    """A recovery as it was done honestly, to be told otherwise by whoever holds the new log's keys."""

    recovery: Recovery

    def key(self, name: str) -> Ed25519PrivateKey:
        """A private key of the new log."""
        pem = (self.recovery.new / "keys" / f"{name}.pem").read_bytes()
        key = load_pem_private_key(pem, None)
        assert isinstance(key, Ed25519PrivateKey)
        return key

    def signed(self, tamper: Tamper) -> list[bytes]:
        """The new log's first records, changed and signed again."""
        records: Records = stored_records(self.recovery.new)[:3]
        tamper(records)
        return [self.sign(record) for record in records]

    def sign(self, record: Any) -> bytes:
        """An entry."""
        payload = record.SerializeToString(deterministic=True)
        envelope = sign_payload(payload_type(record), payload, self.key("statement"))
        return envelope.SerializeToString(deterministic=True)

    def told(self, tamper: Tamper) -> list[str]:
        """What is found when the new log's first records are these."""
        entries = self.signed(tamper)
        note = sign_head([leaf(entry) for entry in entries], NEXT, self.key("checkpoint"))
        first = open_record(entries[0])
        assert isinstance(first, pb.LogStarted)
        findings = handed_over(
            FileSource(self.recovery.published),
            (self.recovery.old / "trust.json").read_bytes(),
            MemorySource(entries, note),
            (self.recovery.new / "trust.json").read_bytes(),
            first.predecessor.size,
        )
        return codes(findings)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the story happened."""
    return tmp_path_factory.mktemp("story")


@pytest.fixture
async def story(directory: Path) -> Story:
    """Two tables with cards dealt and stakes standing, put back to a backup and recovered; made once."""
    recovery = Recovery(directory / "data")
    if not recovery.new.exists():
        async with servers_in(directory) as start:
            server = await start()
            await server.install()
            for table in ("a", "b"):
                await server.open_table(table)
                await server.deal(table)
                await server.place(wager(f"s{table}", 200), wager("w", 300), table=table)
            backup = back_up(server.data_dir, directory / "backup")
            await server.open_table("later")
            await server.stop()
            put_back(backup, server.data_dir)
            await recovery.succeeds()
            await (await recovery.served(start)).stop()
    return Story(recovery)


def test_the_honest_story_holds(story: Story) -> None:
    """Signed again here it is byte for byte what the command wrote: the twins below differ in one thing."""
    assert story.signed(nothing) == stored_entries(story.recovery.new)[:3]
    assert story.told(nothing) == ["TAIL_LOST"]


def other_seed(records: Records) -> None:
    """Flips a bit of a seed."""
    seed = records[1].closing.seed
    records[1].closing.seed = seed[:60] + bytes([seed[60] ^ 1]) + seed[61:]


def swapped_seeds(records: Records) -> None:
    """Each table shows the other's."""
    first, second = records[1].closing.seed, records[2].closing.seed
    records[1].closing.seed, records[2].closing.seed = second, first


def alone(records: Records) -> None:
    """A log that follows none."""
    del records[1:]
    records[0].ClearField("predecessor")


TAMPERED: dict[str, Tamper] = {
    "a shoe missing": lambda records: records.pop(1),
    "every shoe missing": lambda records: records.__delitem__(slice(1, None)),
    "a shoe twice": lambda records: records.append(records[1]),
    "a shoe of another table": lambda records: setattr(records[1], "table", "c"),
    "another opening": lambda records: setattr(records[1], "shoe_opening_hash", b"\x01" * 32),
    "another commitment": lambda records: setattr(records[1].opening, "seed_commitment", b"c" * 32),
    "another card tree": lambda records: setattr(records[1].opening, "cards_root", b"c" * 32),
    "fewer cards dealt": lambda records: setattr(records[1].closing, "cards_dealt", 0),
    "another round": lambda records: setattr(records[1], "round_number", 1),
    "no round": lambda records: setattr(records[1], "round_number", 0),
    "no stakes": lambda records: records[1].ClearField("returned"),
    "a stake missing": lambda records: records[1].returned.pop(),
    "a smaller stake": lambda records: setattr(records[1].returned[0], "stake", 199),
    "stakes in another order": lambda records: records[1].returned.reverse(),
    "a stake of nobody": lambda records: records[1].returned.add(wager_id="x", stake=1),
    "another wager": lambda records: setattr(records[1].returned[0], "wager_id", "x"),
    "another root": lambda records: setattr(records[0].predecessor, "root", b"r" * 32),
    "another origin": lambda records: setattr(records[0].predecessor, "origin", "log.example/x"),
    "no predecessor": alone,
}


@pytest.mark.parametrize("name", TAMPERED)
def test_another_story_is_refused(story: Story, name: str) -> None:
    """As PREDECESSOR, whatever else is found."""
    assert "PREDECESSOR" in story.told(TAMPERED[name])


@pytest.mark.parametrize("tamper", [other_seed, swapped_seeds])
def test_another_seed_is_refused(story: Story, tamper: Tamper) -> None:
    """It is not the committed one."""
    assert "SEED_COMMITMENT" in story.told(tamper)


def test_an_orderly_end_is_not_claimed(story: Story) -> None:
    """A rotation needs a log that was closed, and reveals nothing."""

    def rotation(records: Records) -> None:
        records[0].predecessor.reason = "rotation"
        records[0].predecessor.ClearField("newest_size")
        records[0].predecessor.ClearField("newest_root")
        del records[1:]

    assert story.told(rotation) == ["PREDECESSOR"]


@pytest.mark.parametrize("back", [1, 2, 3])
def test_an_earlier_head_is_refused(story: Story, back: int) -> None:
    """The old log at a smaller size is a true head of it, but not these shoes' end."""
    leaves = [leaf(entry) for entry in stored_entries(story.recovery.old)]
    size = len(leaves) - back

    def earlier(records: Records) -> None:
        records[0].predecessor.size = size
        records[0].predecessor.root = root_of(leaves[:size])

    assert "PREDECESSOR" in story.told(earlier)


def test_a_lost_seed_is_told_not_refused(story: Story) -> None:
    """Whoever claims it is noticed; claimed beside a seed it is nothing that may stand there."""

    def lost(records: Records) -> None:
        records[1].closing.seed = b""
        records[1].seed_unavailable = True

    assert story.told(lost) == ["SEED_UNAVAILABLE", "TAIL_LOST"]
    assert "PREDECESSOR" in story.told(
        lambda records: setattr(records[1], "seed_unavailable", True)
    )


def test_a_lost_tail_cannot_be_kept_silent_by_a_smaller_one(story: Story) -> None:
    """The newest head that is named never lies before the end."""

    def smaller(records: Records) -> None:
        records[0].predecessor.newest_size = records[0].predecessor.size - 1

    assert "RECORD_LIMITS" in story.told(smaller)
