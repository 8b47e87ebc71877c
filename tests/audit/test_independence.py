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
# What reads files, keeps them or runs for long; the rest is pure.
SHELL = ("cli/", "keeping/", "mirror/", "witness/service.py", "witness/store.py")
# What needs the extra `services`, imported there and nowhere else.
EXTRAS = {
    "mirror/service.py": {"prometheus_client"},
    "tsa.py": {"rfc3161_client"},
    "witness/service.py": {"aiohttp", "prometheus_client"},
    "cli/follow_commands.py": {"aiohttp"},
}


def name_of(path: Path) -> str:
    """A module's path in the package."""
    return path.relative_to(PACKAGE).as_posix()


PURE = sorted(
    path
    for path in PACKAGE.rglob("*.py")
    if not name_of(path).startswith(SHELL) and not path.stem.endswith("_pb2")
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


@pytest.mark.parametrize("path", PURE, ids=name_of)
def test_a_module_outside_the_command_line_touches_nothing_outside(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert not imported(source) & (OUTSIDE_WORLD | set(FOREIGN))
    assert not called(source) & {"open", "input", "print", "exec", "eval", "__import__"}


def test_only_three_distributions_are_imported_by_the_verifier() -> None:
    """And those of the extra `services` by the modules that need it, when they are needed."""
    core = {"sealedshoe_audit", "cryptography", "google"}
    found: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        names = imported(path.read_text(encoding="utf-8"))
        foreign = {n for n in names if n not in sys.stdlib_module_names} - core
        if foreign:
            found[name_of(path)] = foreign
    assert found == EXTRAS


def test_the_extra_is_not_loaded_with_the_command_line() -> None:
    """`verify`, `log` and `replay` run where cryptography and protobuf alone are installed."""
    code = "import sys, sealedshoe_audit.cli; print('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert not loaded & set().union(*EXTRAS.values())


def test_the_import_reader_sees_every_form_of_import() -> None:
    source = "import os.path as p\nfrom time import time\ndef f():\n    import random\n"
    assert imported(source) == {"os", "time", "random"}
