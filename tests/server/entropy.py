"""A source of entropy that a test can make fail in each way that sources fail."""

import os


class SteeredSource:
    """Gives the kernel's bytes until told otherwise.

    Attributes:
        fault: "" or "stuck", "repeating", "short", "broken", "ramp".
        spare: reads that still go well after `fault` is set.
    """

    def __init__(self, name: str = "steered") -> None:
        self.name = name
        self.fault = ""
        self.spare = 0
        self.given: list[bytes] = []

    def read(self, size_bytes: int) -> bytes:
        """Returns bytes, or what the fault makes of them."""
        if self.fault and self.spare:
            self.spare -= 1
        elif self.fault:
            return self._faulty(size_bytes)
        self.given.append(os.getrandom(size_bytes))
        return self.given[-1]

    def _faulty(self, size: int) -> bytes:
        match self.fault:
            case "stuck":
                return b"\x5a" * size
            case "repeating":
                return bytes((i * 167 + i // 256 * 13) % 256 for i in range(size))
            case "short":
                return os.getrandom(size)[:-1]
            case "ramp":
                return bytes(i // 8 % 256 for i in range(size))
        raise OSError("the device is gone")
