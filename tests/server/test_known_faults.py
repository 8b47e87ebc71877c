"""Faults that servers of this kind have had: streams that starve calls, children of a process that deals."""

import ast
from pathlib import Path

from sealedshoe_server.v1 import game_service_pb2 as pb_game
from tests.server.conftest import Start
from tests.server.running import wager

STREAMS = 100
CORE = Path("server/sealedshoe_server")
MAKE_CHILDREN = {"subprocess", "multiprocessing", "ProcessPoolExecutor", "fork", "forkpty", "Popen"}


async def test_idle_streams_do_not_starve_a_deal(start: Start) -> None:
    """A hundred watchers of a table, and its deal is answered, and every watcher is shown it."""
    server = await start()
    await server.install()
    await server.open_table()
    request = pb_game.WatchTableRequest(name="tables/t")
    watches = [server.game.WatchTable(request) for _ in range(STREAMS)]
    opened = [await watch.read() for watch in watches]
    assert len({answer.sequence for answer in opened}) == 1
    await server.deal(wagers=[wager()])
    dealt = [await watch.read() for watch in watches]
    assert [answer.sequence for answer in dealt] == [opened[0].sequence + 1] * STREAMS
    for watch in watches:
        watch.cancel()


def test_nothing_that_serves_makes_child_processes() -> None:
    """A fork beside gRPC's threads deadlocks after days; only the demo, which serves nothing, may."""
    found: set[str] = set()
    files = [path for path in CORE.rglob("*.py") if "demo" not in path.parts]
    assert len(files) > 40
    for path in files:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = {alias.name for alias in node.names} if isinstance(node, ast.Import) else set()
            if isinstance(node, ast.ImportFrom):
                names = {node.module or "", *(alias.name for alias in node.names)}
            elif isinstance(node, ast.Attribute):
                names = {node.attr}
            found |= names & MAKE_CHILDREN
    assert found == set()
