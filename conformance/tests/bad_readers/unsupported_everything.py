"""Claims no version of the format."""

from __future__ import annotations

from honest import serve

serve(unsupported={f"version-1.0.{number}": "too hard" for number in (1, 2, 3)})
