"""Ends by a signal when its input ends."""

from __future__ import annotations

import os

from honest import serve

serve()
os.abort()
