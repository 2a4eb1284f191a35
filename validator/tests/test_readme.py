"""The links and the C program in README.md work, and documents name what scripts need."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()


def leads_somewhere(link: str) -> bool:
    """A link to a file, or to a title in it, by its words in lower case."""
    name, _, anchor = link.partition("#")
    file = ROOT / (name or "README.md")
    if not anchor or not file.exists():
        return file.exists()
    titles = re.findall(r"^#+ (.*)", file.read_text(), re.MULTILINE)
    return anchor in [title.lower().replace(" ", "-") for title in titles]


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)]*)\)", README)
    assert links
    assert [link for link in links if not leads_somewhere(link)] == []


def test_what_ci_bench_needs_is_documented() -> None:
    script = (ROOT / "ci/bench").read_text().splitlines()[0]
    (paragraph,) = [part for part in README.split("\n\n") if "`ci/bench DUMP`" in part]
    assert f"`{script.split()[-1]}`" in paragraph


@pytest.mark.parametrize("script", ["ci/debian-packages", "ci/static", "ci/agent"])
def test_what_packages_need_is_documented(script: str) -> None:
    (needed,) = re.findall(r"^ci/packages (.*)$", (ROOT / script).read_text(), re.MULTILINE)
    (section,) = re.findall(r"^## Packages and static binaries\n(.*?)^## ", CONTRIBUTING, re.MULTILINE | re.DOTALL)
    about = section.partition(f"`{script} FOLDER`")[2]
    lists = [" ".join(text.split()) for text in re.findall(r"It needs `([^`]*)`", about)]
    assert lists[0] == needed.removesuffix(" $jdk")
    if needed.endswith(" $jdk"):
        assert "and a JDK" in about


@pytest.mark.parametrize("program", ["check", "histogram"])
def test_program_is_the_one_that_is_tested(program: str) -> None:
    assert (ROOT / f"validator/tests/consumer/{program}.c").read_text() in README
