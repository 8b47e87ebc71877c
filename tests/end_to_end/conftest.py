"""Real server processes on free loopback ports."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sealedshoe_server.demo.process import ServerProcess


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    """A server with the seven games and a table for each, stopped at the end."""
    process = ServerProcess(tmp_path / "data", tmp_path / "server.log")
    process.start()
    yield process
    assert process.stop() == 0, (tmp_path / "server.log").read_text()
