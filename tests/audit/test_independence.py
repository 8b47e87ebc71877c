"""The verifier stands alone: no server, no clock, no entropy, no files outside its command line."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import sealedshoe_audit

PACKAGE = Path(str(sealedshoe_audit.__file__)).parent
FOREIGN = (
    "grpc",
    "aiohttp",
    "structlog",
    "click",
    "rich",
    "sealedshoe_server",
    "sealedshoe_rng",
    "sealedshoe_compliance",
)
OUTSIDE_WORLD = {"os", "sys", "time", "socket", "random", "secrets", "pathlib", "urllib"}
OUTSIDE_WORLD |= {"io", "subprocess", "threading", "asyncio", "sqlite3", "http", "datetime"}
PURE = sorted(
    path
    for path in PACKAGE.rglob("*.py")
    if path.relative_to(PACKAGE).parts[0] != "cli" and not path.stem.endswith("_pb2")
)


def imported(source: str) -> set[str]:
    """Top-level names of all modules that a source text imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    return names


def called(source: str) -> set[str]:
    """Names of all functions that a source text calls by a plain name."""
    return {
        node.func.id
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


def test_loading_the_command_line_loads_nothing_of_the_server() -> None:
    code = "import sys, sealedshoe_audit.cli; print('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert "sealedshoe_audit" in loaded
    assert not loaded & set(FOREIGN)


def test_the_package_was_found() -> None:
    assert len(PURE) > 30


@pytest.mark.parametrize("path", PURE, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_outside_the_command_line_touches_nothing_outside(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert not imported(source) & (OUTSIDE_WORLD | set(FOREIGN))
    assert not called(source) & {"open", "input", "print", "exec", "eval", "__import__"}


def test_only_three_distributions_are_imported_by_the_verifier() -> None:
    names = set().union(*(imported(p.read_text(encoding="utf-8")) for p in PACKAGE.rglob("*.py")))
    foreign = {name for name in names if name not in sys.stdlib_module_names}
    assert foreign == {"sealedshoe_audit", "cryptography", "google"}


def test_the_import_reader_sees_every_form_of_import() -> None:
    source = "import os.path as p\nfrom time import time\ndef f():\n    import random\n"
    assert imported(source) == {"os", "time", "random"}
