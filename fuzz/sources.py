"""Which code the fuzz targets run."""

import hashlib
import subprocess
from pathlib import Path

FOLDERS = ["validator/src", "validator/include", "validator/cli", "generator/src", "fuzz"]
PATTERNS = [f"{folder}/**/*.{kind}" for folder in FOLDERS for kind in ("c", "h", "def")]


def code_of(tree: Path) -> str:
    """A hash of all sources that the targets are built from. Commits that change other files have the same code."""
    digest = hashlib.sha256()
    for file in sorted(file for pattern in PATTERNS for file in tree.glob(pattern)):
        name, content = file.relative_to(tree).as_posix(), hashlib.sha256(file.read_bytes())
        digest.update(f"{content.hexdigest()}  {name}\n".encode())
    return digest.hexdigest()[:12]


def is_changed(tree: Path) -> bool:
    """Whether the code is not that of the commit."""
    command = ["git", "status", "--porcelain", "--", *(f":(glob){pattern}" for pattern in PATTERNS)]
    return bool(subprocess.run(command, cwd=tree, capture_output=True, check=True).stdout)
