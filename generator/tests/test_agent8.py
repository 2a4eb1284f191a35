"""What the agent of JDK 8 wrote, in conformance/producers/agent8/gold: valid in its profile, and true."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

AGENT8 = Path(__file__).resolve().parents[2] / "conformance/producers/agent8"
sys.path.insert(0, str(AGENT8))

from facts import Facts, read_binary, read_text  # noqa: E402
from truth import check_samples, check_threads, our_sites  # noqa: E402

GOLD = sorted((AGENT8 / "gold").iterdir())


def facts(name: str) -> Facts:
    path = AGENT8 / "gold" / name
    return read_binary(path) if path.suffix == ".hprof" else read_text(path)[0]


@pytest.mark.parametrize("path", GOLD, ids=lambda path: path.name)
def test_valid_in_its_profile(path: Path) -> None:
    if path.suffix == ".hprof":
        done = subprocess.run([os.environ["HPROF_VALIDATE"], "--profile", "jdk8-agent", path], capture_output=True, check=False)
        assert done.returncode == 0, done.stdout
    else:
        assert read_text(path)[2].valid


def test_the_validator_of_binary_dumps_names_the_one_of_text() -> None:
    words = [os.environ["HPROF_VALIDATE"], AGENT8 / "gold/samples.txt"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "'hprof-ascii check'" in done.stdout


@pytest.mark.parametrize("name", ["samples.txt", "samples.hprof"])
def test_the_hot_method_has_most_samples(name: str) -> None:
    check_samples(facts(name))


@pytest.mark.parametrize("name", ["threads.txt", "threads.hprof", "sites.hprof"])
def test_threads_start(name: str) -> None:
    check_threads(facts(name))


def test_text_and_binary_have_the_same_sites() -> None:
    """With depth=0 all sites of a class are one."""
    texts, binary = facts("sites.txt"), facts("sites.hprof")
    assert our_sites(texts) == our_sites(binary) == []
    by_type = [{site.type: site.allocated for site in one.sites if site.type.startswith("Truth")} for one in (texts, binary)]
    both = by_type[0].keys() & by_type[1].keys()  # the cutoff may leave out the smallest of them
    assert {"Truth$Point", "Truth$Node", "Truth$Dropped"} <= both
    for type_ in both:
        assert by_type[0][type_] == by_type[1][type_], type_
    assert by_type[0]["Truth$Point"] == 1001  # the class itself is counted with its instances
    assert by_type[0]["Truth$Dropped"] == 2001


def test_the_blocks_of_each_file() -> None:
    found = {path.name: {name for name in facts(path.name).blocks if name not in ("loads", "waits")} for path in GOLD}
    assert found == {
        "monitors.txt": {"monitor dump", "samples"},
        "samples.hprof": {"samples"},
        "samples.txt": {"samples"},
        "sites.hprof": {"sites"},
        "sites.txt": {"sites"},
        "threads.hprof": set(),
        "threads.txt": set(),
        "times.txt": {"times"},
    }
