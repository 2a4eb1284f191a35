"""hprof-gen, hprof-validate and the reader of hprof_corpus agree on every dump that hprof-gen can make. Hypothesis draws the
options.

HPROF_EXAMPLES is how many of them (50, or 10 in slow builds); those of ci/test are the same each time, HPROF_RANDOM=1 draws others.
"""

import gzip
import itertools
import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, Phase, assume, example, given, settings
from hypothesis import strategies as st
from some_cases import TAKES_SOME, shortened, some

from hprof_corpus import reader

GENERATOR = os.environ["HPROF_GEN"]
VALIDATOR = os.environ["HPROF_VALIDATE"]
SCHEMA = jsonschema.Draft202012Validator(json.loads((Path(__file__).resolve().parents[1] / "manifest.schema.json").read_text()))

settings.register_profile(
    "ours",
    max_examples=int(os.environ.get("HPROF_EXAMPLES", "10" if TAKES_SOME else "50")),
    derandomize="HPROF_RANDOM" not in os.environ,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],  # short options are short enough as they are
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ours")


# ---- Options ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Producer:
    versions: tuple[str, ...]
    id_sizes: tuple[int, ...]
    records: tuple[str, ...] = ("heap",)


# What each producer can write, so that few draws are refused. test_gen_cli.py tests the refusals.
ALL = ("heap", "sites", "samples", "all")
PRODUCERS = {
    "plain": Producer(("1.0.1", "1.0.2", "1.0.3"), (4, 8), ALL),
    "hotspot": Producer(("1.0.2",), (4, 8)),
    "hotspot-8": Producer(("1.0.1", "1.0.2"), (4, 8)),
    **{f"hotspot-{version}": Producer(("1.0.2",), (4, 8)) for version in (11, 17, 21, 25, 28)},
    "jdk8-agent": Producer(("1.0.1", "1.0.2"), (4,), ALL),
    "jvmpi-agent": Producer(("1.0.1",), (4, 8), ALL),
    "sa": Producer(("1.0.1", "1.0.2"), (4, 8)),
    **{f"sa-{version}": Producer(("1.0.2",), (4, 8)) for version in (17, 21, 25, 28)},
    "graalvm": Producer(("1.0.2",), (4, 8)),
    "mat": Producer(("1.0.2",), (4, 8)),
    "android": Producer(("1.0.3",), (4,)),
}
CLASSES, REFERENCES, ARRAYS, STRINGS = "classes", "references", "array-length", "string-length"
SHAPES = {
    "mixed": (CLASSES, REFERENCES, ARRAYS, STRINGS),
    "list": (CLASSES, REFERENCES),
    "tree": (CLASSES, REFERENCES),
    "graph": (CLASSES, REFERENCES),
    "arrays": (CLASSES, REFERENCES, ARRAYS),
    "strings": (CLASSES, STRINGS),
    "wide": (CLASSES, REFERENCES),
    "deep": (CLASSES, REFERENCES),
    "threads": (CLASSES, REFERENCES),
}

means = st.integers(0, 60_000).map(lambda thousandths: f"{thousandths // 1000}.{thousandths % 1000:03}")
of_shapes = {CLASSES: st.integers(1, 300), REFERENCES: means, ARRAYS: means, STRINGS: means}
sizes = st.one_of(st.integers(1, 5000), st.sampled_from(["64K", "1M", "100M"]))


@st.composite
def options(draw: st.DrawFn) -> list[str]:
    """Options that most probably work: some counts are too small for a shape, which refuses them."""
    like = draw(st.sampled_from(sorted(PRODUCERS)))
    shape = draw(st.sampled_from(sorted(SHAPES)))
    producer = PRODUCERS[like]
    version = draw(st.sampled_from(producer.versions))
    drawn: dict[str, Any] = {
        "like": like,
        "shape": shape,
        "dump-version": version,
        "id-size": draw(st.sampled_from(producer.id_sizes)),
        "objects": draw(st.integers(0, 3000)),
        "seed": draw(st.integers(0, 2**64 - 1)),
    }
    others: dict[str, st.SearchStrategy[Any]] = {
        "records": st.sampled_from(producer.records),
        "heap-dumps": st.integers(1, 3),
        "threads": st.integers(0, 12),
        "stack-depth": st.integers(0, 12),
        "gz": st.integers(1, 9),
    }
    if version != "1.0.1":
        others["segment-size"] = sizes
    others |= {name: of_shapes[name] for name in SHAPES[shape]}
    for name in draw(st.sets(st.sampled_from(sorted(others)))):
        drawn[name] = draw(others[name])
    return [f"--{name}={value}" for name, value in drawn.items()]


# ---- The three ---------------------------------------------------------------------------------------------------------


def is_refused(done: "subprocess.CompletedProcess[bytes]") -> bool:
    if done.returncode != 2:
        assert (done.returncode, done.stderr) == (0, b"")
        return False
    sentence, hint = done.stderr.decode().splitlines()
    assert sentence.startswith("hprof-gen: --") or "bytes" in sentence or "version" in sentence, sentence
    assert hint == "Try 'hprof-gen --help'."
    return True


def validate(dump: Path, profile: str) -> Any:
    done = subprocess.run(
        [VALIDATOR, "--format=json", "--max-errors=3", f"--profile={profile}", dump], stdout=subprocess.PIPE, check=False
    )
    assert done.returncode in (0, 1)
    return json.loads(done.stdout)["files"][0]


def check_findings(manifest: Any, dump: Path) -> None:
    ours = validate(dump, manifest["profile"])
    assert (ours["errors"], ours["warnings"]) == (0, 0), ours["findings"]
    strict = validate(dump, "strict")
    assert strict["totals"] == manifest["quirks"], strict["findings"]
    assert strict["skipped"] == 0


def check_counts(manifest: Any, dump: Path) -> None:
    """The counts of the validator."""
    report = validate(dump, "strict")
    counts = report["counts"]
    assert {name: counts[name] for name in manifest["records"]} == manifest["records"]
    assert {name: counts[name] for name in manifest["sub_records"]} == manifest["sub_records"]
    for name in ("strings", "instances", "object_arrays", "primitive_arrays", "references"):
        assert counts[name] == manifest[name], name
    assert counts["unknown"] == 0
    for name in ("version", "id_size"):
        assert report[name] == manifest[name]
    assert (report["bytes"], report["file_bytes"]) == (manifest["uncompressed"]["bytes"], manifest["bytes"])


def check_recount(manifest: Any, dump: Path) -> None:
    """The counts of the Python reader."""
    counts = reader.count(memoryview(dump.read_bytes()))
    assert counts.instances_not_followed == 0
    assert (counts.bytes, counts.sha256) == (manifest["uncompressed"]["bytes"], manifest["uncompressed"]["sha256"])
    assert (counts.file_bytes, counts.file_sha256) == (manifest["bytes"], manifest["sha256"])
    for name in ("version", "id_size", "records", "heap_dumps", "instances", "object_arrays"):
        assert getattr(counts, name) == manifest[name], name
    for name, number in manifest["sub_records"].items():
        assert counts.sub_records.get(name, 0) == number, name
    for name, number in manifest["roots"].items():
        assert counts.roots.get(name, 0) == number, name
    assert counts.references.all == manifest["references"]
    assert counts.references.all - counts.references.not_null == manifest["null_references"]
    assert counts.deepest_chain == manifest["deepest_superclass_chain"]
    elements = {name: one.elements for name, one in counts.primitive_arrays_by_type.items()}
    assert elements | {"object": counts.elements} == manifest["elements"]
    assert [
        {
            "id": f"{one.id:#x}",
            "name": one.name,
            "instances": one.instances,
            "instance_bytes": one.instance_bytes,
            "arrays": one.arrays,
            "elements": one.elements,
        }
        for one in sorted(counts.classes, key=lambda one: one.id)
    ] == sorted(manifest["classes"], key=lambda one: int(one["id"], 16))


def agree(drawn: list[str]) -> bool:
    """False if the generator refuses the options."""
    with tempfile.TemporaryDirectory() as folder:
        dump, truth = Path(folder, "dump.hprof"), Path(folder, "truth.json")
        command = [GENERATOR, *drawn]
        done = subprocess.run([*command, "-o", dump, "--manifest", truth], stderr=subprocess.PIPE, check=False)
        if is_refused(done):
            assert list(Path(folder).iterdir()) == []
            return False
        manifest = json.loads(truth.read_text())
        SCHEMA.validate(shortened(manifest))
        assert manifest["options"] == dict(option.removeprefix("--").split("=") for option in drawn)
        check_findings(manifest, dump)
        check_counts(manifest, dump)
        check_recount(manifest, dump)
        piped = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
        assert piped == dump.read_bytes()
    return True


@pytest.mark.parametrize(("like", "shape"), some(itertools.product(PRODUCERS, SHAPES)))
def test_every_shape_in_the_manner_of_every_producer(like: str, shape: str) -> None:
    drawn = [f"--like={like}", f"--shape={shape}", "--objects=1500", f"--records={PRODUCERS[like].records[-1]}", "--gz=1"]
    assert agree(drawn)


@given(options())
@example([])
@example(["--like=android", "--objects=0"])
@example(["--heap-dumps=2", "--segment-size=1"])
def test_all_agree(drawn: list[str]) -> None:
    if not any(option.startswith("--objects") for option in drawn):
        drawn = [*drawn, "--objects=2000"]
    assume(agree(drawn))  # hypothesis minds if most are refused


# ---- Damaged gzip ------------------------------------------------------------------------------------------------------


def test_what_stands_in_front_of_a_damaged_member_is_counted(tmp_path: Path) -> None:
    """The report is as if the dump ended there, and the same each time, although the key of the hash tables is random."""
    plain, damaged, cut = tmp_path / "plain", tmp_path / "damaged", tmp_path / "cut"
    subprocess.run([GENERATOR, "--objects=150000", "--shape=list", "--classes=4000", "-o", plain], check=True)
    data, member = plain.read_bytes(), 100_000
    for number in (3, 21, 40):
        parts = [bytearray(gzip.compress(data[at : at + member], 1)) for at in range(0, len(data), member)]
        parts[number][-8] ^= 1
        damaged.write_bytes(b"".join(parts))
        cut.write_bytes(data[: number * member])
        expected = validate(cut, "strict")
        for _ in range(4):
            found = validate(damaged, "strict")
            assert set(found["totals"]) == {"GZ-003"}
            assert found["sound_until"] == expected["sound_until"]
            assert found["counts"] == expected["counts"]
