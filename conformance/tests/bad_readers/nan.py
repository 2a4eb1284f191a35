"""NaN with the bits that Java's own NaN has: for the readers that spoil others."""

from __future__ import annotations

FLOAT, DOUBLE = 6, 7
WIDTHS = {FLOAT: 4, DOUBLE: 8}


def canonical(code: int, data: bytes) -> bytes:
    """Of a float or a double."""
    if code == FLOAT and data[0] & 0x7F == 0x7F and int.from_bytes(data, "big") & 0x7FFFFF and data[1] & 0x80:
        return bytes.fromhex("7fc00000")
    if code == DOUBLE and data[0] & 0x7F == 0x7F and data[1] >= 0xF0 and int.from_bytes(data, "big") & (1 << 52) - 1:
        return bytes.fromhex("7ff8000000000000")
    return data
