"""Where a server listens: on every form of a loopback address that the settings accept."""

import asyncio
import urllib.request
from pathlib import Path

import pytest
from aiohttp import web

from sealedshoe_server.config import load_config
from sealedshoe_server.listeners import Listeners


async def hello(_: web.Request) -> web.Response:
    return web.Response(text="hello")


def application() -> web.Application:
    """Answers "hello"."""
    app = web.Application()
    app.add_routes([web.get("/", hello)])
    return app


@pytest.mark.parametrize("address", ["127.0.0.1:0", "localhost:0", pytest.param("[::1]:0")])
async def test_http_is_served_on_loopback(tmp_path: Path, address: str) -> None:
    """The address announced is one that can be asked."""
    listeners = Listeners(load_config(None, {"data_dir": tmp_path, "http_listen": address}))
    await listeners.open_http(application())
    url = f"http://{listeners.addresses['http']}/"
    with await asyncio.to_thread(urllib.request.urlopen, url, timeout=10) as answer:
        assert answer.read() == b"hello"
    await listeners.close_http()
