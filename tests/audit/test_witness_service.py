"""A witness over HTTP: the bytes and headers of C2SP tlog-witness, whatever a client sends."""

from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path

import pytest
from aiohttp import ClientSession
from aiohttp.test_utils import TestClient, TestServer

from sealedshoe_audit.log.witness_request import MAX_REQUEST_BYTES
from sealedshoe_audit.witness.service import make_witness_application
from tests.audit.forge.log import public
from tests.audit.witness_requests import (
    FORK,
    NAME,
    ORIGIN,
    STRANGER,
    TREE,
    WITNESS,
    Clock,
    body,
    close_all,
    cosigned_at,
    head,
    head_text,
    open_witness,
    request,
)

MONITOR = f"/{sha256(ORIGIN.encode()).hexdigest()}/checkpoint"
TEXT = "text/plain; charset=utf-8"


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[TestClient]:
    """A client of a fresh witness on the loopback interface."""
    witness, _ = open_witness(tmp_path / "w.db")
    async with TestClient(TestServer(make_witness_application(witness))) as made:
        yield made
    close_all()


async def post(client: TestClient, data: bytes) -> tuple[int, str, str]:
    """Returns status, content type and body of an answer to add-checkpoint."""
    async with client.post("/add-checkpoint", data=data) as answer:
        return answer.status, answer.headers["Content-Type"], await answer.text()


async def metrics(client: TestClient) -> dict[str, float]:
    """Returns the samples of the metrics page, those of creation times left out."""
    async with client.get("/metrics") as answer:
        assert answer.status == 200
        lines = (await answer.text()).splitlines()
    samples = [line.rsplit(" ", 1) for line in lines if not line.startswith("#")]
    return {name: float(value) for name, value in samples if "_created" not in name}


async def test_a_good_request_is_answered_with_one_signature_line(client: TestClient) -> None:
    status, content_type, text = await post(client, request(0, 10))
    assert (status, content_type) == (200, TEXT)
    assert text.count("\n") == 1
    signed = head_text(10, TREE.root(10))
    assert cosigned_at(text, signed, NAME, public(WITNESS)) == Clock().now_s


async def test_a_conflict_tells_the_size_in_its_own_content_type(client: TestClient) -> None:
    await post(client, request(0, 10))
    assert await post(client, request(5, 20)) == (409, "text/x.tlog.size", "10\n")
    assert (await post(client, request(10, 20)))[0] == 200


async def test_refusals_are_plain_text_with_their_status(client: TestClient) -> None:
    await post(client, request(0, 10))
    cases = {
        400: b"hello",
        403: body(10, head(20, private=STRANGER)),
        404: body(10, head(20, origin="other.example")),
        422: body(10, head(20), []),
    }
    for status, data in cases.items():
        found, content_type, text = await post(client, data)
        assert (found, content_type) == (status, TEXT)
        assert "—" not in text


@pytest.mark.parametrize("more", [1, 10_000, 5_000_000])
async def test_an_oversize_body_is_refused_and_the_witness_goes_on(
    client: TestClient, more: int
) -> None:
    async def parts() -> AsyncIterator[bytes]:
        yield request(0, 10)
        yield b"x" * (MAX_REQUEST_BYTES - len(request(0, 10)))
        for _ in range(0, more, 10_000):
            yield b"x" * min(more, 10_000)

    async with ClientSession() as session:
        try:
            async with session.post(client.make_url("/add-checkpoint"), data=parts()) as answer:
                assert answer.status == 400
        except OSError:
            assert more > 100_000  # the witness hung up on a client that would not stop
    assert (await post(client, request(0, 10)))[0] == 200


async def test_a_body_that_comes_in_pieces_is_read_whole(client: TestClient) -> None:
    async def parts() -> AsyncIterator[bytes]:
        data = request(0, 10)
        for start in range(0, len(data), 7):
            yield data[start : start + 7]

    async with client.post("/add-checkpoint", data=parts()) as answer:
        assert answer.status == 200


async def test_an_empty_body_is_refused(client: TestClient) -> None:
    assert (await post(client, b""))[0] == 400


async def test_the_newest_cosigned_checkpoint_can_be_fetched(client: TestClient) -> None:
    await post(client, request(0, 10))
    line = (await post(client, request(10, 20)))[2]
    async with client.get(MONITOR) as answer:
        assert answer.status == 200
        assert answer.headers["Content-Type"] == TEXT
        assert answer.headers["Cache-Control"] == "no-store"
        assert await answer.read() == head(20) + line.encode()


@pytest.mark.parametrize(
    "path", [MONITOR, f"/{'0' * 64}/checkpoint", f"/{'0' * 63}/checkpoint", "/checkpoint", "/"]
)
async def test_what_was_never_cosigned_is_not_found(client: TestClient, path: str) -> None:
    async with client.get(path) as answer:
        assert answer.status == 404


@pytest.mark.parametrize(("method", "path"), [("GET", "/add-checkpoint"), ("POST", MONITOR)])
async def test_other_methods_are_not_allowed(client: TestClient, method: str, path: str) -> None:
    async with client.request(method, path) as answer:
        assert answer.status == 405


async def test_answers_and_forks_are_counted(client: TestClient) -> None:
    assert (await metrics(client)).get("sealedshoe_witness_forks_total") == 0
    await post(client, request(0, 30))
    await post(client, request(0, 30))
    await post(client, request(0, 31))
    await post(client, body(30, head(30, FORK)))
    await post(client, b"")
    assert await metrics(client) == {
        'sealedshoe_witness_answers_total{status="200"}': 1,
        'sealedshoe_witness_answers_total{status="409"}': 2,
        'sealedshoe_witness_answers_total{status="422"}': 1,
        'sealedshoe_witness_answers_total{status="400"}': 1,
        "sealedshoe_witness_forks_total": 1,
    }


async def test_two_witnesses_in_one_process_count_apart(tmp_path: Path, client: TestClient) -> None:
    await post(client, request(0, 30))
    other, _ = open_witness(tmp_path / "other.db")
    async with TestClient(TestServer(make_witness_application(other))) as fresh:
        assert await metrics(fresh) == {"sealedshoe_witness_forks_total": 0}
