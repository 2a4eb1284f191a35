"""The fuzz targets, and which code each of them runs."""

import hashlib
import subprocess
from pathlib import Path

OPTION_TARGETS = ["fuzz_generate", "fuzz_fault"]  # Their input is not a dump.
ALL_TARGETS = ["fuzz_oracle", "fuzz_paths", "fuzz_validate", "fuzz_gzip", "fuzz_records", "fuzz_report"]
ALL_TARGETS += ["fuzz_repair", "fuzz_show", *OPTION_TARGETS]

FOLDERS = ["validator/src", "validator/include", "validator/cli", "generator/src", "fuzz"]
PATTERNS = [f"{folder}/**/*.{kind}" for folder in FOLDERS for kind in ("c", "h", "def")]
NOT_RUN = ["fuzz/test_*.c", "fuzz/replay.c", "fuzz/mutants.c"]  # Tests, and programs that only give inputs to targets.
OF_ONE_TARGET = {f"fuzz/{target}.c": target for target in ALL_TARGETS} | {"fuzz/oracle*": "fuzz_oracle"}


def is_run(name: str, target: str) -> bool:
    path = Path(name)
    if any(path.match(pattern) for pattern in NOT_RUN):
        return False
    return target == "all" or all(target == owner for pattern, owner in OF_ONE_TARGET.items() if path.match(pattern))


def code_of(tree: Path, target: str = "all") -> str:
    """A hash of the sources that a target, or all, are built from. Commits that change other files have the same code."""
    digest = hashlib.sha256()
    for file in sorted(file for pattern in PATTERNS for file in tree.glob(pattern)):
        name, content = file.relative_to(tree).as_posix(), hashlib.sha256(file.read_bytes())
        if is_run(name, target):
            digest.update(f"{content.hexdigest()}  {name}\n".encode())
    return digest.hexdigest()[:12]


def is_changed(tree: Path) -> bool:
    """Whether the code is not that of the commit."""
    command = ["git", "status", "--porcelain", "--no-renames", "--", *(f":(glob){pattern}" for pattern in PATTERNS)]
    changed = subprocess.run(command, cwd=tree, capture_output=True, check=True, text=True).stdout.splitlines()
    return any(is_run(line[3:], "all") for line in changed)
