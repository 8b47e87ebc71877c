"""The HTTP port: /metrics, /healthz, and the log as C2SP tiles under /log/."""

import re
from collections.abc import Callable

from aiohttp import web
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from sealedshoe_audit.log.tiles import TILE_WIDTH, index_path, pack_bundle
from sealedshoe_server.log_writer import LogWriter
from sealedshoe_server.storage.interface import Store

_NUMBER = r"(?:x[0-9]{3}/){0,6}[0-9]{3}"  # to 10^21: beyond any 63-bit size
_TILE = re.compile(
    rf"(?P<level>entries|[0-9]|[1-5][0-9]|6[0-3])/(?P<n>{_NUMBER})(?P<w>\.p/[1-9][0-9]?[0-9]?)?"
)
IMMUTABLE = {"Cache-Control": "public, max-age=604800, immutable"}


class LogFiles:
    """The log's files, made from the store as they are asked for."""

    def __init__(self, store: Store, writer: LogWriter) -> None:
        """Takes its collaborators."""
        self._store = store
        self._writer = writer

    def tile(self, path: str) -> bytes | None:
        """Returns the file below `tile/`, or None for a path that no checkpoint implies."""
        match = _TILE.fullmatch(path)
        if match is None:
            return None
        index = int(match["n"].replace("x", "").replace("/", ""))
        if index_path(index) != match["n"]:
            return None
        width = TILE_WIDTH
        if match["w"]:
            width = int(match["w"].removeprefix(".p/"))
            if width >= TILE_WIDTH:
                return None
        size = self._writer.published.head.head.size
        level = 0 if match["level"] == "entries" else int(match["level"])
        if index * TILE_WIDTH + width > size >> (8 * level):
            return None
        if match["level"] == "entries":
            return pack_bundle(self._store.read(index * TILE_WIDTH, width))
        return self._store.tile(level, index, width)


def make_application(
    files: LogFiles,
    newest_note: Callable[[], bytes],
    texts: Callable[[], dict[str, str]],
    registry: CollectorRegistry,
    before_scrape: Callable[[], None],
    problems: Callable[[], list[str]],
) -> web.Application:
    """Returns the application.

    Args:
        newest_note: the checkpoint to publish.
        texts: {name: content} of small public files: trust.json, and policy where there are witnesses.
        before_scrape: sets gauges that nobody sets otherwise.
        problems: why the server is not healthy; empty when it is.
    """

    async def metrics(_: web.Request) -> web.Response:
        before_scrape()
        return web.Response(
            body=generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_LATEST}
        )

    async def healthz(_: web.Request) -> web.Response:
        found = problems()
        text = "ok\n" if not found else "".join(f"{problem}\n" for problem in found)
        return web.Response(text=text, status=503 if found else 200)

    async def checkpoint(_: web.Request) -> web.Response:
        return web.Response(
            body=newest_note(),
            content_type="text/plain",
            charset="utf-8",
            headers={"Cache-Control": "no-store"},
        )

    async def tile(request: web.Request) -> web.Response:
        data = files.tile(request.match_info["path"])
        if data is None:
            raise web.HTTPNotFound
        return web.Response(body=data, content_type="application/octet-stream", headers=IMMUTABLE)

    async def text(request: web.Request) -> web.Response:
        name = request.match_info["name"]
        found = texts().get(name)
        if found is None:
            raise web.HTTPNotFound
        kind = "application/json" if name.endswith(".json") else "text/plain"
        headers = {"Cache-Control": "no-cache"}
        return web.Response(text=found, content_type=kind, headers=headers)

    application = web.Application()
    application.add_routes(
        [
            web.get("/metrics", metrics),
            web.get("/healthz", healthz),
            web.get("/log/checkpoint", checkpoint),
            web.get("/log/tile/{path:.+}", tile),
            web.get("/log/{name:trust.json|policy}", text),
        ]
    )
    return application
