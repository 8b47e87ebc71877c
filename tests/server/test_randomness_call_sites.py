"""Every use of randomness goes through sealedshoe_rng: found by walking the source."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = [
    ROOT / "audit" / "sealedshoe_audit",
    ROOT / "server" / "sealedshoe_server",
    ROOT / "server" / "sealedshoe_rng",
]
# Modules and functions of Python and its libraries that make randomness, or ids out of it.
SOURCES = {"random", "secrets", "uuid", "numpy", "os.urandom", "os.getrandom"}
MAKERS = {
    "urandom",
    "getrandom",
    "token_bytes",
    "token_hex",
    "token_urlsafe",
    "SystemRandom",
    "getrandbits",
    "randint",
    "randrange",
    "randbytes",
    "uuid1",
    "uuid4",
    "mktemp",
    "generate_key",
    "generate_private_key",
    "random_serial_number",
}
# Where the generator's outputs are taken: (file below server/, function called).
CALL_SITES = {
    ("sealedshoe_server/shoes.py", "draw_seed"),
    ("sealedshoe_server/shoes.py", "random_bytes"),  # salt of the sealed seed
    ("sealedshoe_server/server.py", "random_bytes"),  # incident ids; keys; handed to GameService
    ("sealedshoe_server/keys.py", "random_bytes"),  # handed in by the composition root
    ("sealedshoe_server/services/requests.py", "random_bytes"),  # salts of players' commitments
}


def trees() -> Iterator[tuple[str, ast.Module]]:
    """(path, syntax tree) of every source file of the product."""
    for package in PACKAGES:
        for path in sorted(package.rglob("*.py")):
            yield str(path.relative_to(package.parent)), ast.parse(path.read_text("utf-8"))


def randomness(tree: ast.Module) -> set[str]:
    """Names of sources of randomness that a file imports or calls."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.split(".")[0] in SOURCES}
        elif isinstance(node, ast.ImportFrom):
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {n for n in names if n in SOURCES or n.split(".")[0] in SOURCES}
            found |= {alias.name for alias in node.names if alias.name in MAKERS}
        elif isinstance(node, ast.Attribute) and node.attr in MAKERS:
            found.add(node.attr)
        elif isinstance(node, ast.Name) and node.id in MAKERS:
            found.add(node.id)
    return found


def calls(tree: ast.Module, names: set[str]) -> set[str]:
    """Which of these functions a file calls, as a method or by name."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            name = getattr(function, "attr", getattr(function, "id", ""))
            found |= {name} & names
    return found


def test_the_walk_finds_what_it_looks_for() -> None:
    """Its own negative control: each way of using randomness is seen."""
    for text, name in (
        ("import random", "random"),
        ("import secrets as s", "secrets"),
        ("from os import urandom", "urandom"),
        ("import os\nos.getrandom(1)", "getrandom"),
        ("from uuid import uuid4", "uuid4"),
        ("k = Ed25519PrivateKey.generate_key()", "generate_key"),
    ):
        assert name in randomness(ast.parse(text))
    assert calls(ast.parse("a.b.draw_seed(1)\nrandom_bytes(2)"), {"draw_seed", "random_bytes"}) == {
        "draw_seed",
        "random_bytes",
    }


def test_only_the_rng_asks_the_operating_system() -> None:
    """getrandom in one file of the certified boundary, and nothing anywhere else."""
    found = {path: used for path, tree in trees() if (used := randomness(tree))}
    assert found == {"sealedshoe_rng/sources.py": {"getrandom"}}


def test_the_generators_outputs_are_taken_in_known_places() -> None:
    """A new use of randomness must be added here, and looked at."""
    taken = {
        (path, name)
        for path, tree in trees()
        for name in calls(tree, {"draw_seed", "random_bytes"})
        if not path.startswith("sealedshoe_rng/")
    }
    assert taken == CALL_SITES


def test_raw_sources_are_read_in_known_places() -> None:
    """Beside the generator itself: request ids, and new keys, of the command line alone."""
    found = set()
    for path, tree in trees():
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        if names & {"OsSource", "DeviceSource"}:
            found.add(path)
    assert found == {
        "sealedshoe_server/cli/keys.py",
        "sealedshoe_server/cli/logs_end.py",
        "sealedshoe_server/client.py",
        "sealedshoe_server/server.py",
    }
