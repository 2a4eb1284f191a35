"""Has bytes in a message that are no UTF-8."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from honest import hello, read, say

say(hello())
for line in sys.stdin:
    asked = json.loads(line)
    reply = json.dumps({"case": asked["case"], "message": "?", **read(Path(asked["file"]))})
    sys.stdout.buffer.write(reply.replace("?", "\ufffd").encode().replace(b"\xef\xbf\xbd", b"\xff") + b"\n")
    sys.stdout.buffer.flush()
