"""Clients that share no code with ours: made from proto/ alone, through reflection, or out of the README."""

import base64
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from sealedshoe_server.demo.process import ServerProcess

BUF = Path(sys.executable).parent / "buf"

GENERATED_CLIENT = """
import sys
import grpc
from sealedshoe_server.v1 import game_service_pb2 as pb, game_service_pb2_grpc as stubs
assert "/generated/" in pb.__file__, pb.__file__
stub = stubs.GameServiceStub(grpc.insecure_channel(sys.argv[1]))
opened = stub.GetTable(pb.GetTableRequest(name="tables/classic-8d-tie9")).round
answer = stub.DealRound(pb.DealRoundRequest(
    request_id="generated-1", round=opened.name, opening_hash=opened.opening_hash,
    wagers=[pb.NewWager(wager_id="w", spot="tie", stake=100, player="p")]))
print(answer.round.name, answer.round.next_round.name)
"""


def test_a_client_generated_from_proto_alone_plays_a_round(
    server: ServerProcess, tmp_path: Path
) -> None:
    """protoc on proto/ gives all that a front-end needs."""
    out = tmp_path / "generated"
    out.mkdir()
    files = [str(path) for path in Path("proto").rglob("*.proto")]
    command = [sys.executable, "-m", "grpc_tools.protoc", "-Iproto"]
    subprocess.run(
        [*command, f"--python_out={out}", f"--grpc_python_out={out}", *files], check=True
    )
    packages = next(path for path in sys.path if path.endswith("site-packages"))
    script = f"import sys; sys.path[:0] = {[str(out), packages]!r}\n{GENERATED_CLIENT}"
    run = [sys.executable, "-I", "-S", "-c", script, server.addresses["grpc"]]
    done = subprocess.run(run, stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.split() == [
        "tables/classic-8d-tie9/rounds/1",
        "tables/classic-8d-tie9/rounds/2",
    ]


def curl(address: str, method: str, body: dict[str, Any]) -> dict[str, Any]:
    """Calls through server reflection."""
    url = f"http://{address}/sealedshoe_server.v1.GameService/{method}"
    command = [str(BUF), "curl", "--protocol", "grpc", "--http2-prior-knowledge"]
    done = subprocess.run(
        [*command, "-d", json.dumps(body), url], stdout=subprocess.PIPE, check=True
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_buf_curl_plays_a_round_through_reflection(server: ServerProcess) -> None:
    """No generated code at all: JSON in, JSON out."""
    address = server.addresses["grpc"]
    opened = curl(address, "GetTable", {"name": "tables/shoe-7d"})["round"]
    assert len(base64.b64decode(opened["openingHash"])) == 32
    wager = {"wagerId": "w1", "spot": "player", "stake": "100", "player": "p"}
    deal = {
        "requestId": "curl-1",
        "round": opened["name"],
        "openingHash": opened["openingHash"],
        "wagers": [wager],
    }
    answer = curl(address, "DealRound", deal)
    assert answer["round"]["name"] == opened["name"]
    assert answer["round"]["nextRound"]["name"] == "tables/shoe-7d/rounds/2"
    assert curl(address, "DealRound", deal) == answer


def test_the_readme_client_plays_a_round(server: ServerProcess) -> None:
    """The README's Python runs as it stands, in fifteen lines, but for the port."""
    (code,) = re.findall(r"```python\n(.*?)```", Path("README.md").read_text(), re.DOTALL)
    assert len(code.strip().splitlines()) <= 15
    code = code.replace("127.0.0.1:7440", server.addresses["grpc"])
    done = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True
    )
    cards, wagers = done.stdout.splitlines()
    assert re.fullmatch(r"\[\d+(, \d+){3,5}\] outcome [123]", cards)
    assert re.fullmatch(r"\[\('banker', (0|500|975)\)\]", wagers)
