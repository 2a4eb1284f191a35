#!/usr/bin/python3
"""hprof-ascii as it is installed: bin has this file, share/hprof the modules. pip makes another program of the same name."""

import signal
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # what root writes there would be left when the package is removed
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C prints no traceback while the modules are loaded
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "share/hprof"))

from hprof_corpus.ascii.command import main  # noqa: E402  found by the path above

sys.exit(main())
