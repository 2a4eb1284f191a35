"""Says another version at each start."""

from __future__ import annotations

import os

from honest import serve

serve(version=str(os.getpid()))
