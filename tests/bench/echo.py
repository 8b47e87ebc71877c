"""The baseline: a bare grpc.aio server that answers every DealRound with the same recorded bytes."""

import asyncio
import sys
from pathlib import Path

import grpc
import uvloop

from tests.bench.load import METHOD


async def serve(answer: bytes) -> None:
    """Prints its address and serves until it is ended."""

    async def echo(_: bytes, __: "grpc.aio.ServicerContext[bytes, bytes]") -> bytes:
        return answer

    _, service, method = METHOD.split("/")
    handler: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_unary_rpc_method_handler(echo)
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler(service, {method: handler}),)
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"127.0.0.1:{port}", flush=True)
    await server.wait_for_termination()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner_:
        runner_.run(serve(Path(sys.argv[1]).read_bytes()))
