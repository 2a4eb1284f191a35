"""Does not end when its input ends."""

from __future__ import annotations

import time

from honest import serve

serve()
time.sleep(600)
