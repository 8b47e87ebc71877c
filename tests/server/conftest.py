"""Servers for tests: started on free loopback ports, and their whole logs audited at the end."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from sealedshoe_rng import EntropySource, OsSource
from sealedshoe_server.config import Config
from tests.server.bad_input import Floor, furnish
from tests.server.running import Running, start_server

Start = Callable[..., Awaitable[Running]]


@asynccontextmanager
async def servers_in(directory: Path) -> AsyncIterator[Start]:
    """Gives `await start(source=..., bare=..., name=..., <settings>)`; at the end every server that
    still runs is stopped and its whole log audited."""
    running: list[Running] = []

    async def start(
        source: EntropySource | None = None,
        *,
        bare: bool = True,
        name: str = "data",
        **settings: Any,
    ) -> Running:
        given = {
            "listen": "127.0.0.1:0",
            "local_listen": "127.0.0.1:0",
            "http_listen": "127.0.0.1:0",
            "grace_s": 2.0,
        }
        config = Config(data_dir=directory / name, **(given | settings))
        running.append(await start_server(config, source or OsSource(), bare=bare))
        return running[-1]

    yield start
    for server in running:
        if not server.stopped:
            await server.stop()


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Start]:
    """Starts servers for one test."""
    async with servers_in(tmp_path) as start:
        yield start


@pytest.fixture
async def house(start: Start) -> Running:
    """A server with one installed game, shoe-6d, and one table "t" of it."""
    server = await start()
    await server.install()
    await server.open_table()
    return server


@pytest.fixture
async def quick(start: Start) -> Running:
    """A server with one table "t" where every round has its own shoe."""
    server = await start()
    await server.install("punto-banco-6d")
    await server.open_table(game="punto-banco-6d")
    return server


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def floor(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Floor]:
    """A server for the bad input of a whole module, which must leave it as it is."""
    async with servers_in(tmp_path_factory.mktemp("bad")) as start:
        yield await furnish(await start())
