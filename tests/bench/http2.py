"""The cheapest gRPC client that still speaks HTTP/2: one method, raw bytes, one connection.

Python's own gRPC client costs more than the servers it would measure. This one sends two frames a call
from prepared header blocks and reads only frame heads. It leaves out what a benchmark of small unary
calls does not meet: padding, flow control (windows are opened wide at the start, requests are small), and
the contents of answer headers. A call that ends without a message was refused.
"""

import asyncio
import struct
from typing import cast

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
WIDEST_WINDOW = 2**31 - 1  # RFC 9113 6.9.1
DEFAULT_WINDOW = 65_535
FRAME_HEAD_BYTES = 9
MESSAGE_HEAD_BYTES = 5  # gRPC: compressed flag, uint32 length
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
END_STREAM, ACK, END_HEADERS = 0x1, 0x1, 0x4
SETTING_INITIAL_WINDOW = 4
FIRST_DYNAMIC = 62  # RFC 7541 2.3.3: the static table has 61 entries


class CallFailed(Exception):
    """A call got no answer, or the connection ended."""


def _frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def header_blocks(path: str) -> tuple[bytes, bytes]:
    """Returns the HPACK blocks of a connection's first request and of all later ones.

    The first puts every header into the dynamic table, as clients do; the later ones name entries.
    """
    headers = {
        ":method": "POST",
        ":scheme": "http",
        ":path": path,
        ":authority": "localhost",
        "te": "trailers",
        "content-type": "application/grpc",
        "user-agent": "sealedshoe-bench",
        "grpc-timeout": "10S",
    }
    first = b"".join(b"\x40" + _text(name) + _text(value) for name, value in headers.items())
    newest_last = range(FIRST_DYNAMIC + len(headers) - 1, FIRST_DYNAMIC - 1, -1)
    return first, bytes(0x80 | index for index in newest_last)


def _text(text: str) -> bytes:
    data = text.encode()
    return bytes([len(data)]) + data  # below 127 bytes, not Huffman coded


class Connection(asyncio.Protocol):
    """One connection; calls may overlap."""

    def __init__(self, path: str) -> None:
        """Prepares calls of the method at `path`."""
        self._block, self._later = header_blocks(path)
        self._stream = -1
        self._buffer = b""
        self._waiting: dict[int, asyncio.Future[bytes]] = {}
        self._messages: dict[int, bytes] = {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Sends the preface and opens the windows."""
        self._transport = cast("asyncio.Transport", transport)
        settings = struct.pack(">HI", SETTING_INITIAL_WINDOW, WIDEST_WINDOW)
        opening = struct.pack(">I", WIDEST_WINDOW - DEFAULT_WINDOW)
        self._transport.write(
            PREFACE + _frame(SETTINGS, 0, 0, settings) + _frame(WINDOW_UPDATE, 0, 0, opening)
        )

    def call(self, message: bytes) -> asyncio.Future[bytes]:
        """Sends a message; the future gets the answer's, or CallFailed."""
        self._stream += 2
        body = b"\x00" + struct.pack(">I", len(message)) + message
        self._transport.write(
            _frame(HEADERS, END_HEADERS, self._stream, self._block)
            + _frame(DATA, END_STREAM, self._stream, body)
        )
        self._block = self._later
        done: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting[self._stream] = done
        return done

    def data_received(self, data: bytes) -> None:
        """Takes whole frames off what has arrived."""
        buffer = self._buffer + data
        start = 0
        while start + FRAME_HEAD_BYTES <= len(buffer):
            word, flags, stream = struct.unpack_from(">IBI", buffer, start)
            end = start + FRAME_HEAD_BYTES + (word >> 8)
            if end > len(buffer):
                break
            self._take(word & 0xFF, flags, stream, buffer[start + FRAME_HEAD_BYTES : end])
            start = end
        self._buffer = buffer[start:]

    def _take(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        if kind == DATA:
            self._messages[stream] = self._messages.get(stream, b"") + payload
        elif kind == RST_STREAM:
            self._end(stream)
        elif kind == GOAWAY:
            self.connection_lost(CallFailed(f"GOAWAY {payload!r}"))
        elif kind in (SETTINGS, PING) and not flags & ACK:
            answer = payload if kind == PING else b""
            self._transport.write(_frame(kind, ACK, 0, answer))
        if kind in (DATA, HEADERS) and flags & END_STREAM:
            self._end(stream)

    def _end(self, stream: int) -> None:
        message = self._messages.pop(stream, b"")
        done = self._waiting.pop(stream)
        if message:
            done.set_result(message[MESSAGE_HEAD_BYTES:])
        else:
            done.set_exception(CallFailed("the call was refused"))

    def connection_lost(self, exc: Exception | None) -> None:
        """Fails every call that still waits."""
        for done in self._waiting.values():
            done.set_exception(exc or CallFailed("the connection ended"))
        self._waiting.clear()

    def close(self) -> None:
        """Ends the connection."""
        self._transport.close()


async def connect(address: str, path: str) -> Connection:
    """Returns a connection for calls of one method."""
    host, _, port = address.rpartition(":")
    loop = asyncio.get_running_loop()
    _, connection = await loop.create_connection(lambda: Connection(path), host, int(port))
    return connection
