"""A whole log as its published files, from its entries."""

from collections.abc import Callable, Iterable
from pathlib import Path

from sealedshoe_audit.keeping.files import write_file
from sealedshoe_audit.log.checkpoint import Checkpoint
from sealedshoe_audit.log.merkle import Frontier
from sealedshoe_audit.log.publication import grown_files


def write_log(
    directory: Path, origin: str, entries: Iterable[bytes], sign: Callable[[str], bytes]
) -> None:
    """Writes tiles and bundles, and last the checkpoint.

    Args:
        sign: returns the signed note over a checkpoint's text.

    Raises:
        OSError: a file could not be written.
    """
    frontier = Frontier()
    for path, data in grown_files(frontier, entries, lambda _: None):
        write_file(directory / path, data)
    text = Checkpoint(origin, frontier.size, frontier.root()).text()
    write_file(directory / "checkpoint", sign(text))
