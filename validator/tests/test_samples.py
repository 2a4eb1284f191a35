"""The samples in README.md and the manual page are what the tools print on a terminal of 112 columns."""

import os
import re
from pathlib import Path

import pytest
from tool import SOURCE, TOOL, on_a_terminal

COLUMNS = 112
DOCUMENTS = ["README.md", "validator/cli/hprof-validate.1.md"]
ANYTHING = re.escape("[...]\n")
PROGRESS = re.compile(r"\r(?!\n)[^\r\n]*\x1b\[K")  # which a slow machine shows after a second
TIME = re.compile(r"[;,] [0-9.]+ s(, [0-9.]+ [KMG]B/s)?$", re.MULTILINE)


def samples(document: str) -> list[tuple[str, str]]:
    """The commands after "$ " and what follows each, up to the next command or the end of its block."""
    text = (SOURCE / document).read_text(encoding="utf-8")
    found = re.findall(r"^( *)\$ (.*)\n((?:(?!\1\$ |```)(?:\1.+\n|\n(?=\1[^\n])))*)", text, re.MULTILINE)
    return [(command, re.sub(f"^{indent}", "", sample, flags=re.MULTILINE)) for indent, command, sample in found]


@pytest.mark.skipif("HPROF_GEN" not in os.environ, reason="built without hprof-gen")
@pytest.mark.skipif("HPROF_SLOW" in os.environ, reason="the same in all builds")
@pytest.mark.parametrize("document", DOCUMENTS)
def test_samples_are_what_is_printed(document: str, tmp_path: Path) -> None:
    folders = [str(Path(tool).parent) for tool in (TOOL, os.environ["HPROF_GEN"], os.environ["HPROF_REDUCE"])]
    environment = {"PATH": ":".join([*folders, os.environ["PATH"]]), "NO_COLOR": "1"}
    found = samples(document)
    assert len(found) > 3
    (tmp_path / "conformance").symlink_to(SOURCE / "conformance")  # as in a clone
    for command, sample in found:
        printed = on_a_terminal("-c", command, cwd=tmp_path, environment=environment, columns=COLUMNS, executable="/bin/bash")
        printed = PROGRESS.sub("", printed).replace("\r\n", "\n")
        shown = re.escape(TIME.sub("; TIME", sample)).replace(ANYTHING, "(?:.*\\n)+")
        assert re.fullmatch(shown, TIME.sub("; TIME", printed)), f"{document}: {command} prints\n{printed}"
