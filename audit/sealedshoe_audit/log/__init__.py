"""The transparency log: Merkle tree, signed notes, checkpoints and tiles (RFC 6962, C2SP)."""
