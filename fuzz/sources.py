"""The fuzz targets, and which code each of them runs."""

import hashlib
import re
import subprocess
from pathlib import Path

OPTION_TARGETS = ["fuzz_generate", "fuzz_fault"]  # Their input is not a dump.
ALL_TARGETS = ["fuzz_oracle", "fuzz_paths", "fuzz_validate", "fuzz_gzip", "fuzz_records", "fuzz_report"]
ALL_TARGETS += ["fuzz_repair", "fuzz_show", *OPTION_TARGETS]

FOLDERS = ["validator/src", "validator/include", "validator/cli", "generator/src", "fuzz"]
PATTERNS = [f"{folder}/**/*.{kind}" for folder in FOLDERS for kind in ("c", "h", "def")]
# Tests, and what only makes inputs: drivers and the mutator.
NOT_RUN = ["fuzz/test_*.c", "fuzz/replay.c", "fuzz/mutants.c", "fuzz/engines.c", "fuzz/mutator.*", "fuzz/family.*", "fuzz/pieces.*"]
NOT_RUN += ["fuzz/break.*"]
OF_ONE_TARGET = {f"fuzz/{target}.c": target for target in ALL_TARGETS} | {"fuzz/oracle*": "fuzz_oracle"}
OF_ONE_TARGET |= {"validator/src/repair/*": "fuzz_repair", "validator/src/show/*": "fuzz_show", "validator/cli/*": "fuzz_report"}
OF_ONE_TARGET |= {f"generator/src/{part}": "fuzz_fault" for part in ("fault.*", "faults.*", "fresh_ids.*", "violate*")}
OF_GENERATOR = ["generator/src/*", "fuzz/made_dump.*"]
GENERATOR_TARGETS = ["fuzz_generate", "fuzz_fault", "fuzz_records"]


def is_run(name: str, target: str) -> bool:
    path = Path(name)
    if any(path.match(pattern) for pattern in NOT_RUN):
        return False
    if target not in ["all", *GENERATOR_TARGETS] and any(path.match(pattern) for pattern in OF_GENERATOR):
        return False
    return target == "all" or all(target == owner for pattern, owner in OF_ONE_TARGET.items() if path.match(pattern))


def tokens_of(source: bytes) -> bytes:
    """A C source with a space for each comment and each space between tokens."""
    literal = rb'("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')'
    return re.sub(literal + rb"|(?:/\*.*?\*/|//[^\n]*|\s)+", lambda match: match[1] or b" ", source, flags=re.DOTALL).strip()


def code_of(tree: Path, target: str = "all") -> str:
    """A hash of the sources that a target, or all, are built from, without comments."""
    digest = hashlib.sha256()
    for file in sorted(file for pattern in PATTERNS for file in tree.glob(pattern)):
        name = file.relative_to(tree).as_posix()
        if is_run(name, target):
            digest.update(f"{hashlib.sha256(tokens_of(file.read_bytes())).hexdigest()}  {name}\n".encode())
    return digest.hexdigest()[:12]


def is_changed(tree: Path) -> bool:
    """Whether the code is not that of the commit."""
    command = ["git", "status", "--porcelain", "--no-renames", "--", *(f":(glob){pattern}" for pattern in PATTERNS)]
    changed = subprocess.run(command, cwd=tree, capture_output=True, check=True, text=True).stdout.splitlines()
    return any(is_run(line[3:], "all") for line in changed)
