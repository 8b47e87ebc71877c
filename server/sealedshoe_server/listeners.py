"""Where a server listens: gRPC on loopback and, with mutual TLS, beyond; HTTP on loopback; health.

The public listener has GameService and health alone. Ports are never shared: a forgotten old process
must not take a part of the calls.
"""

import asyncio
from pathlib import Path

import grpc
from aiohttp import web
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from sealedshoe_server.config import Config
from sealedshoe_server.v1 import audit_service_pb2, game_service_pb2, operator_service_pb2

GAME = game_service_pb2.DESCRIPTOR.services_by_name["GameService"]
OPERATOR = operator_service_pb2.DESCRIPTOR.services_by_name["OperatorService"]
AUDIT = audit_service_pb2.DESCRIPTOR.services_by_name["AuditService"]
SERVICES = (GAME.full_name, OPERATOR.full_name, AUDIT.full_name)


class PortTaken(Exception):
    """A port is in use."""


class Listeners:
    """The listeners of one process.

    Attributes:
        addresses: {"grpc", "http" and, if there is one, "public"}: where each listens.
    """

    def __init__(self, config: Config) -> None:
        """Nothing listens yet."""
        self._config = config
        self._health = health.aio.HealthServicer()
        self._servers: list[grpc.aio.Server] = []
        self._http: web.AppRunner | None = None
        self.addresses: dict[str, str] = {}

    async def open_grpc(
        self, game: grpc.GenericRpcHandler, others: list[grpc.GenericRpcHandler]
    ) -> None:
        """Listens for calls.

        Args:
            game: handlers of GameService, the only ones served beyond loopback.

        Raises:
            PortTaken: another process has a port.
        """
        config = self._config
        local = config.local_listen if config.is_public else config.listen
        self.addresses["grpc"] = await self._serve(local, [game, *others], None)
        if config.is_public:
            public = await self._serve(config.listen, [game], _credentials(config))
            self.addresses["public"] = public

    async def _serve(
        self,
        address: str,
        handlers: list[grpc.GenericRpcHandler],
        credentials: grpc.ServerCredentials | None,
    ) -> str:
        server = grpc.aio.server(options=_options(self._config))
        server.add_generic_rpc_handlers(tuple(handlers))
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        if credentials is None:
            shown = (*SERVICES, health.SERVICE_NAME, reflection.SERVICE_NAME)
            reflection.enable_server_reflection(shown, server)
        try:
            if credentials is None:
                port = server.add_insecure_port(address)
            else:
                port = server.add_secure_port(address, credentials)
        except RuntimeError as error:
            raise PortTaken(f"{address}: cannot be listened on; another process has it") from error
        await server.start()
        self._servers.append(server)
        return f"{address.rpartition(':')[0]}:{port}"

    async def open_http(self, application: web.Application) -> None:
        """Listens for HTTP.

        Raises:
            PortTaken: another process has the port.
        """
        self._http = web.AppRunner(application, access_log=None)
        await self._http.setup()
        host, _, port = self._config.http_listen.rpartition(":")
        try:
            await web.TCPSite(self._http, host.strip("[]"), int(port), reuse_port=False).start()
        except OSError as error:
            raise PortTaken(f"{self._config.http_listen}: {error.strerror}") from error
        self.addresses["http"] = f"{host}:{self._http.addresses[0][1]}"

    async def set_health(self, serving: bool) -> None:
        """Tells health checkers, for the whole server and every service."""
        status = health_pb2.HealthCheckResponse
        state = status.SERVING if serving else status.NOT_SERVING
        for name in ("", *SERVICES):
            await self._health.set(name, state)

    async def close_grpc(self) -> None:
        """Turns health off for good, lets balancers notice, and ends the calls under way."""
        await self._health.enter_graceful_shutdown()
        await asyncio.sleep(self._config.drain_s)
        await asyncio.gather(*(server.stop(self._config.grace_s) for server in self._servers))

    async def close_http(self) -> None:
        """Stops listening for HTTP."""
        if self._http is not None:
            await self._http.cleanup()


def _credentials(config: Config) -> grpc.ServerCredentials:
    """Mutual TLS: a client without a certificate of the CA does not get past the handshake."""
    key = Path(config.tls_key).read_bytes()
    chain = Path(config.tls_certificate).read_bytes()
    authority = Path(config.tls_client_ca).read_bytes()
    return grpc.ssl_server_credentials(
        [(key, chain)], root_certificates=authority, require_client_auth=True
    )


def _options(config: Config) -> list[tuple[str, int]]:
    """Requests up to four times the limit get their refusal, with a reason, from us."""
    return [
        ("grpc.so_reuseport", 0),
        ("grpc.max_receive_message_length", 4 * config.max_message_bytes),
        ("grpc.max_metadata_size", 16_384),
        ("grpc.keepalive_time_ms", 60_000),
        ("grpc.keepalive_timeout_ms", 10_000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.min_recv_ping_interval_without_data_ms", 20_000),
        ("grpc.http2.max_ping_strikes", 2),
    ]
