"""The worked example of docs/protocol.md: every value in it, and every claim of the page about it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sealedshoe_audit.framing import shoe_identity
from sealedshoe_audit.log.merkle import leaf_hash
from sealedshoe_audit.records import open_record
from sealedshoe_audit.shoe.commitment import build_shoe, seed_commitment
from sealedshoe_audit.shoe.seed import expand
from sealedshoe_audit.trust import parse_trust
from sealedshoe_audit.verify.evidence import verify_evidence

FILE = Path(__file__).parent.parent / "vectors" / "worked_example" / "worked_example.json"
PAGE = Path(__file__).parent.parent.parent / "docs" / "protocol.md"


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    """The example's values."""
    values: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
    return values


def test_the_shoe_follows_from_identity_and_seed(example: dict[str, Any]) -> None:
    """Identity, words, order, salts, commitment and root."""
    identity = shoe_identity(example["origin"], "7", 1, 6)
    seed = bytes.fromhex(example["seed"])
    assert identity.hex() == example["shoe_identity"]
    assert list(expand(seed, identity, 6)[:8]) == example["first_words"]
    assert seed_commitment(seed).hex() == example["seed_commitment"]
    shoe = build_shoe(seed, identity, 6, 6)
    assert list(shoe.order) == example["order"]
    assert [shoe.salt(i).hex() for i in range(6)] == example["salts"]
    assert shoe.cards_root.hex() == example["cards_root"]
    assert [node.hex() for node in shoe.prove(0, 5)] == example["card_proof"]


def test_every_record_is_its_leaf(example: dict[str, Any]) -> None:
    """Envelopes hash to the leaves and hold the records."""
    for record in example["records"]:
        envelope = bytes.fromhex(record["envelope"])
        assert leaf_hash(envelope).hex() == record["leaf_hash"]
        assert type(open_record(envelope)).__name__ == record["kind"]


def test_its_evidence_and_receipt_are_valid(example: dict[str, Any]) -> None:
    """The whole file, as a player would check it."""
    trust = parse_trust(example["trust"].encode())
    evidence, receipt = (bytes.fromhex(example[name]) for name in ("evidence", "receipt"))
    report = verify_evidence(evidence, trust, receipt)
    assert (report.valid, report.findings) == (True, [])
    assert report.facts["player_cards"] == ["6D", "8S", "AD"]
    assert report.facts["banker_cards"] == ["QD", "6S"]
    # Banker 6 stands against a third card worth 1; Player has 6 + 8 + 1 = 5.
    assert report.facts["outcome"] == "banker"
    paid = {settled["spot"]: settled["paid"] for settled in report.facts["settlements"]}
    assert paid == {"banker": 975, "player": 0}


def test_the_page_prints_the_examples_own_values(example: dict[str, Any]) -> None:
    """Every full hash on the page is in the file, and the checkpoint stands there whole."""
    page, text = PAGE.read_text("utf-8"), json.dumps(example)
    hashes = re.findall(r"\b[0-9a-f]{64}\b", page)
    assert len(hashes) >= 8
    assert [value for value in hashes if value not in text] == []
    assert example["checkpoint"] in page
