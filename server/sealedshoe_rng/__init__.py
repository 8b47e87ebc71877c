"""The certified random number generator: sources, health tests and root (docs/protocol.md, Seed).

    seed = os_bytes XOR root_bytes

The boundary that a lab certifies. Every use of randomness in the product goes through this package;
it imports the DRBG of `sealedshoe_audit` and nothing else of the product.
"""

from sealedshoe_rng.generator import CertifiedRng, RngFailed, SeedDraw
from sealedshoe_rng.sources import DeviceSource, EntropySource, OsSource

__all__ = ["CertifiedRng", "DeviceSource", "EntropySource", "OsSource", "RngFailed", "SeedDraw"]
