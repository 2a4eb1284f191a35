"""README.md stays true: its links, its options, its C program."""

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)]*)\)", README)
    assert links
    titles = {f"#{title.lower().replace(' ', '-')}" for title in re.findall(r"^#+ (.*)", README, re.MULTILINE)}
    assert [link for link in links if link not in titles and not (ROOT / link).exists()] == []


def test_options_are_those_of_help() -> None:
    usage = README[README.index("\n## Usage\n") : README.index("\n## Profiles\n")]
    help_text = subprocess.run(
        [os.environ["HPROF_VALIDATE"], "--help"], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    option = re.compile(r"--[a-z][a-z-]+")
    assert set(option.findall(usage)) == set(option.findall(help_text))


def test_program_is_the_one_that_is_tested() -> None:
    assert (ROOT / "validator/tests/consumer/judge.c").read_text() in README
