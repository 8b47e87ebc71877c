"""Identity of the software that runs: one digest over every source file of the three packages."""

from hashlib import sha256
from importlib import resources
from importlib.resources.abc import Traversable

PACKAGES = ("sealedshoe_audit", "sealedshoe_rng", "sealedshoe_server")
KINDS = (".py", ".sql", ".toml")


def software_manifest() -> str:
    """Returns one line a file, `<sha256>  <path>`, ascending by path."""
    lines: list[str] = []
    for package in PACKAGES:
        lines += _lines(resources.files(package), package)
    return "".join(sorted(lines, key=lambda line: line.split("  ", 1)[1]))


def _lines(directory: Traversable, path: str) -> list[str]:
    lines: list[str] = []
    for item in directory.iterdir():
        name = f"{path}/{item.name}"
        if item.is_dir():
            lines += _lines(item, name)
        elif item.name.endswith(KINDS):
            lines.append(f"{sha256(item.read_bytes()).hexdigest()}  {name}\n")
    return lines


def manifest_digest() -> bytes:
    """Returns the SHA-256 of the manifest."""
    return sha256(software_manifest().encode()).digest()
