"""Accepts each file, reads none, and gives nothing that could be compared."""

from __future__ import annotations

from honest import serve

serve(lambda file: {"outcome": "accepted"}, counts=[], digests=[])
