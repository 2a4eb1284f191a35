"""The manual pages and the shell completions have each option of --help, and no other."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {
    "hprof-diff": ROOT / "validator/cli/diff",
    "hprof-reduce": ROOT / "validator/reduce/cli",
    "hprof-validate": ROOT / "validator/cli",
}
PROGRAMS = {name: os.environ[name.upper().replace("-", "_")] for name in FOLDERS}
if "HPROF_GEN" in os.environ:
    FOLDERS["hprof-gen"] = ROOT / "generator/cli"
    PROGRAMS["hprof-gen"] = os.environ["HPROF_GEN"]
    FOLDERS["hprof-serve"] = ROOT / "generator/serve/cli"
    PROGRAMS["hprof-serve"] = os.environ["HPROF_SERVE"]
TOOLS = sorted(PROGRAMS)
HELP = {"hprof-gen": "--help=all"}  # prints all options, as --help of the others does


def run(*command: str | Path) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def page(tool: str) -> str:
    return (FOLDERS[tool] / f"{tool}.1.md").read_text(encoding="utf-8")


def forms(tool: str) -> list[str]:
    """`-o, --output FILE` and the like, as --help prints them."""
    rows = re.findall(r"^  (-\w, |    )(--[\w-]+(?: ?[^ \n]+)*)", run(PROGRAMS[tool], HELP.get(tool, "--help")), re.MULTILINE)
    assert len(rows) > (5 if tool in ("hprof-diff", "hprof-serve") else 8)
    return [(letter + name).strip() for letter, name in rows]


def words(tool: str) -> list[str]:
    """All options: -o, --output."""
    return [word for form in forms(tool) for word in re.findall(r"(?<!\S)(?:-\w|--[\w-]+)(?=[,\s\[]|$)", form)]


# ---- Manual pages


@pytest.mark.parametrize("tool", TOOLS)
def test_each_option_has_a_heading(tool: str) -> None:
    assert re.findall(r"^### `(-.*)`$", page(tool), re.MULTILINE) == forms(tool)


@pytest.mark.parametrize("tool", TOOLS)
def test_each_heading_of_options_is_that_of_help(tool: str) -> None:
    groups = re.findall(r"^([A-Z][a-z]+(?: [a-z]+)*)$", run(PROGRAMS[tool], HELP.get(tool, "--help")), re.MULTILINE)
    assert re.findall(r"^## (.*)$", page(tool), re.MULTILINE) == groups


@pytest.mark.skipif("hprof-gen" not in TOOLS, reason="built without hprof-gen")
def test_each_producer_and_shape_is_described() -> None:
    names = re.findall(r"^ {30}([a-z0-9-]+) ", run(PROGRAMS["hprof-gen"], HELP["hprof-gen"]), re.MULTILINE)
    assert len(names) > 10
    for name in names:
        assert re.search(rf"^- `{name}`", page("hprof-gen"), re.MULTILINE), name


def test_each_profile_is_described() -> None:
    for name in re.findall(r"^(\w\S*) ", run(PROGRAMS["hprof-validate"], "--list-profiles"), re.MULTILINE):
        assert f"`{name}`" in page("hprof-validate"), name


@pytest.mark.parametrize("tool", TOOLS)
def test_links_lead_somewhere(tool: str) -> None:
    links = re.findall(r"\]\(([^)#]+)", page(tool))
    assert links
    assert [link for link in links if not (FOLDERS[tool] / link).exists()] == []


@pytest.mark.skipif(not shutil.which("lowdown"), reason="no lowdown")
@pytest.mark.parametrize("tool", TOOLS)
def test_the_whole_page_is_installed(tool: str, tmp_path: Path) -> None:
    run("cmake", "--install", os.environ["HPROF_BUILD"], "--prefix", tmp_path)
    text = (tmp_path / f"share/man/man1/{tool}.1").read_text(encoding="utf-8")
    plain = re.sub(r"\\f.|\\&", "", text).replace("\\-", "-")
    assert plain.startswith(('.\\"', ".TH"))
    for form in forms(tool):
        assert form in plain, form
    assert not re.findall(r"^\.UR.*|\]\(|\.\./", text, re.MULTILINE)  # links between files of the tree


# ---- Completions


def bash_offers(tool: str, *typed: str) -> list[str]:
    """The completions that are offered for the last word."""
    file = FOLDERS[tool] / f"completions/{tool}.bash"
    script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); "_${1//-/_}"; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(
        ["bash", "--norc", "-c", script, "bash", file, tool, *typed],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # compopt wants a real completion
        text=True,
        check=True,
    )
    return done.stdout.split()


@pytest.mark.parametrize("tool", TOOLS)
def test_bash_knows_each_option(tool: str) -> None:
    offered = [word.removesuffix("=") for word in bash_offers(tool, "-")]
    assert sorted(offered) == sorted(words(tool))


def test_bash_offers_values() -> None:
    assert bash_offers("hprof-validate", "--profile", "j") == ["jdk8-agent", "jvmpi-agent"]
    assert bash_offers("hprof-validate", "--profile", "=", "jd") == ["jdk8-agent"]
    assert bash_offers("hprof-validate", "--disable", "OBJ-001,HDR-00") == [f"OBJ-001,HDR-00{n}" for n in range(1, 8)]
    assert bash_offers("hprof-validate", "-f", "js") == ["json", "jsonl"]
    assert bash_offers("hprof-validate", "heap") == []


@pytest.mark.skipif(not shutil.which("zsh"), reason="no zsh")
@pytest.mark.parametrize("tool", TOOLS)
def test_zsh_knows_each_option(tool: str) -> None:
    file = FOLDERS[tool] / f"completions/_{tool}"
    given = run("zsh", "-f", "-c", '_arguments() { print -rl -- "$@" }; source "$1"', "zsh", file).splitlines()
    assert given[:2] == ["-s", "-S"]
    options = [re.match(r"\*?(--?[\w-]+?)(?:=-?|\+)?(?:\[|:|$)", line) for line in given[2:] if line.lstrip("*").startswith("-")]
    assert sorted(found[1] for found in options if found) == sorted(words(tool))


@pytest.mark.skipif(not shutil.which("fish"), reason="no fish")
@pytest.mark.parametrize("tool", TOOLS)
def test_fish_knows_each_option(tool: str, tmp_path: Path) -> None:
    file = FOLDERS[tool] / f"completions/{tool}.fish"
    script = f"source {file}; complete -C '{tool} -'"
    done = subprocess.run(
        ["fish", "--no-config", "-c", script],
        env=os.environ | {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    offered = [line.split("\t")[0].rstrip("=") for line in done.stdout.splitlines()]
    assert sorted(set(offered)) == sorted(words(tool))
