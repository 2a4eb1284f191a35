"""Ends with status 3 when its input ends."""

from __future__ import annotations

import sys

from honest import serve

serve()
sys.exit(3)
