"""The fuzz targets, and which code each of them runs."""

import hashlib
import re
import subprocess
from pathlib import Path

MADE_BY_OPTIONS = ["fuzz_generate", "fuzz_fault"]
OPTION_TARGETS = [*MADE_BY_OPTIONS, "fuzz_agent"]  # Their input is not a dump.
TEXT_TARGET = "fuzz_text"  # The one in Python, which needs no build.
C_TARGETS = ["fuzz_oracle", "fuzz_paths", "fuzz_validate", "fuzz_gzip", "fuzz_records", "fuzz_report"]
C_TARGETS += ["fuzz_read", "fuzz_repair", "fuzz_show", *OPTION_TARGETS]
ALL_TARGETS = [*C_TARGETS, TEXT_TARGET]

FOLDERS = ["validator/src", "validator/include", "validator/cli", "generator/src", "generator/agent", "fuzz"]
PATTERNS = [f"{folder}/**/*.{kind}" for folder in FOLDERS for kind in ("c", "h", "def")]
PATTERNS += ["generator/python/hprof_corpus/*.py", "fuzz/fuzz_text"]
GENERATOR_TARGETS = ["fuzz_generate", "fuzz_fault", "fuzz_records"]
# The targets that run a source: the last pattern that matches it applies; without one, all targets in C run it. Tests, drivers and
# the mutator, which only makes inputs, are not counted, nor is msan.c, which is not in the builds of campaigns.
SIZES_TARGETS = ["fuzz_oracle", "fuzz_paths", "fuzz_validate"]  # They draw sizes of the library.
RUN_BY: dict[str, list[str]] = {f"fuzz/{target}.c": [target] for target in C_TARGETS}
NOT_RUN = ("test_*", "replay", "mutants", "engines", "mutator", "family", "pieces", "break", "damage", "msan")
RUN_BY |= {f"fuzz/{maker}.*": [] for maker in NOT_RUN}
RUN_BY |= {"fuzz/oracle*": ["fuzz_oracle"], "fuzz/expect_manifest.*": MADE_BY_OPTIONS, "fuzz/program_name.*": ["fuzz_report"]}
RUN_BY |= {
    "fuzz/expect_printable.*": ["fuzz_report", "fuzz_show"],
    "fuzz/hash.*": [*SIZES_TARGETS, "fuzz_read", "fuzz_report", "fuzz_show"],
}
RUN_BY |= {"fuzz/sizes.*": SIZES_TARGETS}
RUN_BY |= {"fuzz/dice.*": [*SIZES_TARGETS, "fuzz_gzip", "fuzz_read", "fuzz_report", "fuzz_repair", "fuzz_show"]}
RUN_BY |= {"fuzz/account.*": ["fuzz_paths", "fuzz_validate"]}
RUN_BY |= {"fuzz/gzip.*": ["fuzz_gzip", "fuzz_read", "fuzz_records", "fuzz_repair", "fuzz_show", *MADE_BY_OPTIONS]}
RUN_BY |= {"fuzz/memory_file.*": ["fuzz_paths", "fuzz_read", "fuzz_repair", "fuzz_show", "fuzz_records", "fuzz_generate"]}
ALLOCATING_TARGETS = ["fuzz_oracle", "fuzz_paths", "fuzz_validate", "fuzz_gzip", "fuzz_read", "fuzz_repair", "fuzz_show"]
RUN_BY |= {"fuzz/made_dump.*": GENERATOR_TARGETS, "fuzz/allocator.*": ALLOCATING_TARGETS}
RUN_BY |= {"generator/src/*": GENERATOR_TARGETS, "generator/src/*/*": GENERATOR_TARGETS}
RUN_BY |= {"generator/src/faults/*": ["fuzz_fault"], "generator/src/damage/*": []}
RUN_BY |= {"generator/src/truth/digest*": ["fuzz_generate"], "generator/src/truth/manifest.*": MADE_BY_OPTIONS}
RUN_BY |= {"validator/src/read/*": ["fuzz_read"]}
RUN_BY |= {"validator/src/repair/*": ["fuzz_repair"], "validator/src/show/*": ["fuzz_show"], "validator/cli/*": ["fuzz_report"]}
RUN_BY |= {"validator/cli/json.*": ["fuzz_report", *MADE_BY_OPTIONS]}
RUN_BY |= {"validator/cli/printable.*": ["fuzz_report", "fuzz_show", *MADE_BY_OPTIONS]}
RUN_BY |= {"generator/agent/*": ["fuzz_agent"]}
RUN_BY |= {"generator/python/hprof_corpus/*": [TEXT_TARGET], "fuzz/fuzz_text": [TEXT_TARGET]}


def is_run(name: str, target: str) -> bool:
    """Whether a target, or any of "all" in C, can run a source."""
    runners = [targets for pattern, targets in RUN_BY.items() if Path(name).match(pattern)][-1:] or [C_TARGETS]
    return any(runner in C_TARGETS if target == "all" else runner == target for runner in runners[0])


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
            source = file.read_bytes()
            tokens = tokens_of(source) if file.suffix in (".c", ".h", ".def") else source
            digest.update(f"{hashlib.sha256(tokens).hexdigest()}  {name}\n".encode())
    return digest.hexdigest()[:12]


def is_changed(tree: Path, target: str) -> bool:
    """Whether the code of a target, or of all, is not that of the commit."""
    command = ["git", "status", "--porcelain", "--no-renames", "--", *(f":(glob){pattern}" for pattern in PATTERNS)]
    changed = subprocess.run(command, cwd=tree, capture_output=True, check=True, text=True).stdout.splitlines()
    return any(is_run(line[3:], target) for line in changed)
