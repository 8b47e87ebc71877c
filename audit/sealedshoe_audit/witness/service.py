"""A witness over HTTP: POST add-checkpoint, GET <hash of the origin>/checkpoint, GET metrics.

Needs the distribution's extra `services`.
"""

from aiohttp import web
from prometheus_client import CollectorRegistry, Counter, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from sealedshoe_audit.log.witness_request import MAX_REQUEST_BYTES
from sealedshoe_audit.witness.witness import Witness


def make_witness_application(witness: Witness) -> web.Application:
    """Returns the application."""
    registry = CollectorRegistry()
    answers = Counter(
        "sealedshoe_witness_answers", "Answers by HTTP status.", ["status"], registry=registry
    )
    forks = Counter(
        "sealedshoe_witness_forks",
        "Signed heads that contradict a cosigned one.",
        registry=registry,
    )

    async def add_checkpoint(request: web.Request) -> web.Response:
        body = await request.content.read(MAX_REQUEST_BYTES + 1)
        while len(body) <= MAX_REQUEST_BYTES and not request.content.at_eof():
            body += await request.content.read(MAX_REQUEST_BYTES + 1 - len(body))
        refused, line = witness.add_checkpoint(body)
        answers.labels(str(200 if refused is None else refused.status)).inc()
        if refused is None:
            return web.Response(text=line, content_type="text/plain", charset="utf-8")
        if refused.fork:
            forks.inc()
        return web.Response(
            body=refused.body.encode(),
            status=refused.status,
            headers={"Content-Type": refused.content_type},
        )

    async def checkpoint(request: web.Request) -> web.Response:
        note = witness.checkpoint(request.match_info["origin"])
        if note is None:
            raise web.HTTPNotFound
        return web.Response(
            body=note,
            content_type="text/plain",
            charset="utf-8",
            headers={"Cache-Control": "no-store"},
        )

    async def metrics(_: web.Request) -> web.Response:
        return web.Response(
            body=generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_LATEST}
        )

    application = web.Application()
    application.add_routes(
        [
            web.post("/add-checkpoint", add_checkpoint),
            web.get("/{origin:[0-9a-f]{64}}/checkpoint", checkpoint),
            web.get("/metrics", metrics),
        ]
    )
    return application
