"""Writes a line before its hello."""

from __future__ import annotations

from honest import serve

print("starting", flush=True)
serve()
