"""Puts a service on a gRPC server, each method inside the same layers, outermost first:

    errors      every refusal becomes a status with details; the unforeseen, INTERNAL with an incident id
    metrics     calls, latency, refusals
    identity    who calls: the certificate's URI, or "loopback"
    deadline    a call without one gets the server's own
    validation  size and form of the message

The layers are composed once, at registration. A handler that answers in bytes has built its message
already; those bytes go out as they are.
"""

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeAlias, cast

import grpc
import structlog
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from sealedshoe_server.errors import GameError, Reason, invalid
from sealedshoe_server.metrics import Metrics
from sealedshoe_server.services.requests import CALLER
from sealedshoe_server.services.status import CODE_OF, to_status
from sealedshoe_server.storage.interface import StorageFailed

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
Unary: TypeAlias = Callable[[Any], Awaitable[Message | bytes]]
Streaming: TypeAlias = Callable[[Any], AsyncIterator[Message]]


class Layers:
    """What surrounds every method."""

    def __init__(
        self,
        metrics: Metrics,
        incident_id: Callable[[], str],
        default_deadline_s: float,
        max_message_bytes: int,
    ) -> None:
        """Takes its settings; `incident_id` gives a fresh id for what nobody foresaw."""
        self._metrics = metrics
        self._incident_id = incident_id
        self._default_deadline_s = default_deadline_s
        self._max_message_bytes = max_message_bytes
        self._log = structlog.get_logger()

    def handlers(
        self, service: ServiceDescriptor, implementation: object
    ) -> grpc.GenericRpcHandler:
        """Returns the handlers of a service, implemented by methods of the same names."""
        methods = {
            method.name: self._handler(method, getattr(implementation, method.name))
            for method in service.methods
        }
        return grpc.method_handlers_generic_handler(service.full_name, methods)

    def _handler(
        self, method: MethodDescriptor, behaviour: Callable[[Any], Any]
    ) -> "grpc.RpcMethodHandler[bytes, bytes]":
        parse = self._parser(GetMessageClass(method.input_type))
        if inspect.isasyncgenfunction(behaviour):
            return grpc.unary_stream_rpc_method_handler(
                self._streaming(method.name, behaviour, parse)
            )
        return grpc.unary_unary_rpc_method_handler(self._unary(method.name, behaviour, parse))

    def _parser(self, kind: type[Message]) -> Callable[[bytes], Message]:
        most = self._max_message_bytes

        def parse(data: bytes) -> Message:
            if len(data) > most:
                raise GameError(
                    Reason.MESSAGE_TOO_LARGE,
                    f"a request is at most {most} bytes",
                    metadata={"limit": str(most)},
                )
            try:
                return kind.FromString(data)
            except DecodeError as error:
                raise invalid(
                    Reason.MESSAGE_MALFORMED, "request", f"is no {kind.DESCRIPTOR.name}"
                ) from error

        return parse

    def _unary(
        self, name: str, behaviour: Unary, parse: Callable[[bytes], Message]
    ) -> Callable[[bytes, Context], Awaitable[bytes]]:
        latency = self._metrics.latency.labels(name)
        succeeded = self._metrics.calls.labels(name, "OK")

        async def call(data: bytes, context: Context) -> bytes:
            started = time.perf_counter()
            try:
                CALLER.set(caller_of(context))
                remaining = cast("float | None", context.time_remaining())
                if remaining is None:
                    async with asyncio.timeout(self._default_deadline_s):
                        answer = await behaviour(parse(data))
                else:
                    answer = await behaviour(parse(data))
            except Exception as error:
                await self._refuse(name, context, error)
                raise
            latency.observe(time.perf_counter() - started)
            succeeded.inc()
            return answer if isinstance(answer, bytes) else answer.SerializeToString()

        return call

    def _streaming(
        self, name: str, behaviour: Streaming, parse: Callable[[bytes], Message]
    ) -> Callable[[bytes, Context], AsyncIterator[bytes]]:
        succeeded = self._metrics.calls.labels(name, "OK")

        async def call(data: bytes, context: Context) -> AsyncIterator[bytes]:
            try:
                CALLER.set(caller_of(context))
                async for answer in behaviour(parse(data)):
                    yield answer.SerializeToString()
            except Exception as error:
                await self._refuse(name, context, error)
                raise
            succeeded.inc()

        return call

    async def _refuse(self, name: str, context: Context, error: Exception) -> None:
        """Ends the call with a status; `abort_with_status` raises, so that nothing follows it."""
        if isinstance(error, TimeoutError):
            self._metrics.calls.labels(name, "DEADLINE_EXCEEDED").inc()
            await context.abort(grpc.StatusCode.DEADLINE_EXCEEDED, "the server's own deadline")
        if isinstance(error, StorageFailed):
            self._log.error("storage", method=name, problem=str(error))
            error = GameError(Reason.STORAGE_FAILED, "the log cannot be read", retry_after_ms=1000)
        refusal = error if isinstance(error, GameError) else self._incident(name, error)
        self._metrics.calls.labels(name, CODE_OF[refusal.reason].name).inc()
        self._metrics.refusals.labels(name, str(refusal.reason)).inc()
        await context.abort_with_status(to_status(refusal))

    def _incident(self, name: str, error: Exception) -> GameError:
        """The log gets where it happened, and no text that might hold a secret; the wire, an id."""
        try:
            incident = self._incident_id()
        except OSError:
            incident = "unnumbered"
        self._log.error(
            "incident", incident=incident, method=name, kind=type(error).__name__, at=_where(error)
        )
        return GameError(
            Reason.INTERNAL, f"internal error, incident {incident}", metadata={"incident": incident}
        )


def _where(error: BaseException) -> list[str]:
    places: list[str] = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        places.append(f"{code.co_filename.rpartition('/')[2]}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return places[-6:]


def caller_of(context: Context) -> str:
    """Returns the caller's identity: the URI of its certificate (SPIFFE), never the common name."""
    presented = context.auth_context()
    for kind in ("peer_uri", "peer_dns"):
        names = presented.get(kind, ())
        if names:
            return bytes(next(iter(names))).decode("utf-8", "replace")
    if b"ssl" in presented.get("transport_security_type", ()):
        raise GameError(Reason.CALLER_UNNAMED, "the certificate names no URI and no DNS name")
    return "loopback"
