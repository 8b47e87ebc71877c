"""Vectors of the Merkle tree, tiles and bundles, by RFC 6962's recursion as it is written there."""

from functools import cache
from hashlib import sha256
from typing import Any

from tests.audit.log.reference import NaiveTree
from tests.vectors.make.suite import Suite

SOURCE = "RFC 6962, 2.1, written out; leaf i is the uint32 i"
AROUND = [2**k + d for k in range(9, 13) for d in (-1, 0, 1)]
SIZES = [*range(1, 301), *AROUND]


@cache
def _tree() -> NaiveTree:
    return NaiveTree([i.to_bytes(4, "big") for i in range(max(SIZES))])


def tree_root() -> Suite:
    """The root of the first leaves, at every size."""
    suite = Suite("tree_root", SOURCE)
    for size in (0, *SIZES):
        suite.good(f"size {size}", {"size": size}, {"root": _tree().root(size).hex()})
    return suite


def inclusion() -> Suite:
    """Two leaves of every size, and every leaf of a few; spoilt twins of each kind."""
    suite = Suite("inclusion", SOURCE)
    for size in SIZES:
        indexes = range(size) if size in (1, 2, 3, 7, 8, 9) else (_some(size), size - 1)
        for index in dict.fromkeys(indexes):
            suite.good(f"leaf {index} of {size}", _included(index, size), {})
    for size in (1, 2, 5, 8, 255, 256, 257, 300):
        for problem, twin in _spoilt_inclusion(_included(_some(size), size)):
            suite.bad(f"size {size}: {problem}", twin, "INCLUSION")
    return suite


def _some(size: int) -> int:
    return int.from_bytes(sha256(b"%d" % size).digest()[:4], "big") % size


def _included(index: int, size: int) -> dict[str, Any]:
    tree = _tree()
    return {
        "index": str(index),
        "size": str(size),
        "leaf": sha256(b"\x00" + tree.entries[index]).hexdigest(),
        "path": b"".join(tree.path(index, 0, size)).hex(),
        "root": tree.root(size).hex(),
    }


def _spoilt_inclusion(case: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    twins = [
        ("another leaf", case | {"leaf": "11" * 32}),
        ("another root", case | {"root": "11" * 32}),
        ("a hash more", case | {"path": case["path"] + "22" * 32}),
        ("a byte more", case | {"path": case["path"] + "22"}),
        ("an index beyond the tree", case | {"index": case["size"]}),
        ("an empty tree", case | {"index": "0", "size": "0"}),
        ("a tree of 2^63 leaves", case | {"size": str(2**63)}),
    ]
    if case["path"]:
        spoilt = f"{int(case['path'][:2], 16) ^ 1:02x}{case['path'][2:]}"
        twins.append(("another path", case | {"path": spoilt}))
        twins.append(("a hash less", case | {"path": case["path"][64:]}))
        twins.append(("the neighbour's index", case | {"index": str(int(case["index"]) ^ 1)}))
    return twins


def consistency() -> Suite:
    """Two older sizes for every size, and every pair up to nine; spoilt twins of each kind."""
    suite = Suite("consistency", SOURCE)
    for new in SIZES:
        olds = range(new + 1) if new < 10 else (_some(new), new // 2)
        for old in dict.fromkeys(olds):
            suite.good(f"{old} to {new}", _consistent(old, new), {})
    for old, new in ((1, 2), (3, 7), (4, 7), (64, 100), (255, 256), (100, 300), (7, 7), (0, 5)):
        for problem, twin in _spoilt_consistency(_consistent(old, new)):
            suite.bad(f"{old} to {new}: {problem}", twin, "CONSISTENCY")
    return suite


def _consistent(old: int, new: int) -> dict[str, Any]:
    tree = _tree()
    return {
        "old": str(old),
        "new": str(new),
        "old_root": tree.root(old).hex(),
        "new_root": tree.root(new).hex(),
        "proof": b"".join(tree.proof(old, new)).hex(),
    }


def _spoilt_consistency(case: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    twins = [
        ("another old root", case | {"old_root": "11" * 32}),
        ("a hash more", case | {"proof": case["proof"] + "22" * 32}),
        ("a byte more", case | {"proof": case["proof"] + "22"}),
        ("shrunk", case | {"old": str(int(case["new"]) + 1)}),
    ]
    if case["proof"]:
        spoilt = f"{int(case['proof'][:2], 16) ^ 1:02x}{case['proof'][2:]}"
        twins.append(("another proof", case | {"proof": spoilt}))
        twins.append(("a hash less", case | {"proof": case["proof"][64:]}))
        twins.append(("another new root", case | {"new_root": "11" * 32}))
    return twins


def tile() -> Suite:
    """The hash that a tile of so many hashes has one level up."""
    suite = Suite("tile", SOURCE)
    hashes = [sha256(b"\x00" + i.to_bytes(4, "big")).digest() for i in range(256)]
    given = {"hashes": b"".join(hashes).hex()}
    suite.good("a full tile", given, {"hash": _tree().root(256).hex()})
    return suite


def tile_path() -> Suite:
    """Where tiles and bundles lie."""
    suite = Suite("tile_path", "C2SP tlog-tiles v0.1.0, written out")
    for index, path in ((0, "000"), (7, "007"), (999, "999"), (1000, "x001/000")):
        suite.good(f"tile {index}", _where(3, index, 256), {"path": f"tile/3/{path}"})
        suite.good(f"bundle {index}", _where(None, index, 256), {"path": f"tile/entries/{path}"})
        partial = {"path": f"tile/0/{path}.p/17"}
        suite.good(f"a partial tile {index}", _where(0, index, 17), partial)
    for index, path in ((1234067, "x001/x234/067"), (10**9 - 1, "x999/x999/999")):
        suite.good(f"tile {index}", _where(0, index, 256), {"path": f"tile/0/{path}"})
        suite.good(f"bundle {index}", _where(None, index, 1), {"path": f"tile/entries/{path}.p/1"})
    return suite


def _where(level: int | None, index: int, width: int) -> dict[str, Any]:
    return {"level": level, "index": index, "width": width}


def bundle() -> Suite:
    """Bundles of entries, whole and damaged."""
    suite = Suite("bundle", "C2SP tlog-tiles v0.1.0, written out")
    for entries in ([b""], [b"a"], [b"", b"", b""], [b"abc", b"x" * 300], [b"y" * 4096]):
        data = b"".join(len(e).to_bytes(2, "big") + e for e in entries)
        name = " ".join(str(len(e)) for e in entries)
        given = {"bundle": data.hex(), "width": len(entries)}
        hashes = [sha256(e).hexdigest() for e in entries]
        suite.good(f"entries of {name} bytes", given, {"entries_sha256": hashes})
        for problem, twin in (
            ("cut", given | {"bundle": data[:-1].hex()}),
            ("with a byte more", given | {"bundle": data.hex() + "00"}),
            ("with one entry too few", given | {"width": len(entries) + 1}),
            ("with one entry too many", given | {"width": len(entries) - 1}),
        ):
            suite.bad(f"entries of {name} bytes, {problem}", twin, "PARSE")
    return suite
