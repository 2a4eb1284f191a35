"""What the manifest of a dump says: what was asked for, and what is in the dump, as the validator and the reader of hprof_corpus
count it. The same options give the same bytes each time, and the same manifest."""

import gzip
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from gen_tool import IS_SLOW, LIKES, SCHEMA, SHAPES, VALIDATOR, dump, run, truth
from some_cases import some

from hprof_corpus import reader

# ---- Which dump it is ------------------------------------------------------------------------------------------------


def test_manifest_says_what_was_asked_for(tmp_path: Path) -> None:
    """By the last word on each, under its full name; what does not change the bytes is left out."""
    args = ["--shape=list", "--shape", "deep", "--dump-version", "1.0.1", "--objects=1_0e1", "--progress=never"]
    manifest = truth(*args, folder=tmp_path)
    assert manifest["options"] == {"shape": "deep", "dump-version": "1.0.1", "objects": "1_0e1"}
    assert (manifest["file"], manifest["version"], manifest["objects"]) == ("dump.hprof", "1.0.1", 100)
    folder = tmp_path / "folder"
    folder.mkdir()
    run("-o", folder / "named", "--manifest", folder / "truth", "--objects=1")
    assert json.loads((folder / "truth").read_text())["file"] == "named"


def test_manifest_of_standard_output(tmp_path: Path) -> None:
    done = run("--objects=1000", "--seed=5", "--quiet", "--manifest", tmp_path / "truth.json")
    assert done.status == 0
    manifest = json.loads((tmp_path / "truth.json").read_text())
    SCHEMA.validate(manifest)
    assert manifest["file"] is None
    assert manifest["seed"] == 5
    assert manifest["options"] == {"objects": "1000", "seed": "5"}
    assert (manifest["bytes"], manifest["sha256"]) == (len(done.out), hashlib.sha256(done.out).hexdigest())
    assert done.out == dump("--seed=5")


def test_gzip_and_the_manifest(tmp_path: Path) -> None:
    manifest = truth("--objects=20000", "--gz=3", folder=tmp_path)
    packed = (tmp_path / "dump.hprof").read_bytes()
    plain = gzip.decompress(packed)
    assert (manifest["bytes"], manifest["sha256"]) == (len(packed), hashlib.sha256(packed).hexdigest())
    assert manifest["uncompressed"] == {"bytes": len(plain), "sha256": hashlib.sha256(plain).hexdigest()}


def test_manifest_of_records_taken_from_a_dump(tmp_path: Path) -> None:
    """With --from, the producer and its quirks are unknown; the rest is counted."""
    (tmp_path / "a").write_bytes(dump("--like=hotspot"))
    made = truth("--objects=1000", "--like=hotspot", folder=tmp_path)
    assert run("--from=a", "--manifest=b.json", "-o", "b", cwd=tmp_path).status == 0
    taken = json.loads((tmp_path / "b.json").read_text())
    SCHEMA.validate(taken)
    assert taken["profile"] is taken["quirks"] is None
    for key in ("bytes", "sha256", "records", "sub_records", "roots", "objects", "arrays", "elements", "strings", "references"):
        assert taken[key] == made[key]
    assert (taken["version"], taken["classes"]) == ("1.0.2", made["classes"])
    assert taken["null_references"] is None


# ---- What is in the dump ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["HDR-005/empty", "REC-001/tag-alone", "REC-002/record", "REC-002/sub-record"])
def test_manifest_of_a_dump_that_ends_too_early(rule: str, tmp_path: Path) -> None:
    """Only complete records are counted, as the validator does."""
    manifest = truth(f"--violate={rule}", "--objects=1000", folder=tmp_path)
    done = subprocess.run(
        [VALIDATOR, "--profile=strict", "--format=json", "dump.hprof"], cwd=tmp_path, capture_output=True, check=False
    )
    counts = json.loads(done.stdout)["files"][0]["counts"]
    for name, count in (manifest["records"] | manifest["sub_records"]).items():
        assert (name, counts[name]) == (name, count)
    assert manifest["strings"] == counts["strings"]


def test_manifest_has_the_classes_that_a_violation_adds(tmp_path: Path) -> None:
    for rule, name in (
        ("STR-007/method", "Broken"),
        ("REF-002/field", "Broken"),
        ("CLS-003/other-class", "java/lang/Object"),
        ("CLS-005", "Broken"),  # of ID 0
        ("STR-007/class", "late"),
    ):
        manifest = truth(f"--violate={rule}", "--objects=1000", folder=tmp_path)
        names = [one["name"] for one in manifest["classes"]]
        assert None not in names
        assert name in names


def test_manifest_has_no_name_where_a_class_has_none(tmp_path: Path) -> None:
    """The second class has the name 0, which names no string, even if a string with ID 0 is defined."""
    for args in (["--violate=STR-006/class"], ["--violate=STR-008/class", "--like=sa"]):
        made = truth("--objects=1000", *args, folder=tmp_path)["classes"]
        assert [one["name"] for one in made].count(None) == 1
        (tmp_path / "dump.hprof").rename(tmp_path / "a")
        assert truth("--from=a", folder=tmp_path)["classes"] == made


@pytest.mark.parametrize(
    ("rule", "version"), [("HDR-003", "1.0.3"), ("REC-005/old-header", "1.0.1"), ("HDR-001", None), ("OBJ-004", "1.0.2")]
)
def test_manifest_has_the_version_of_the_header(rule: str, version: str | None, tmp_path: Path) -> None:
    assert truth(f"--violate={rule}", "--objects=10", folder=tmp_path)["version"] == version


def test_the_deepest_chain(tmp_path: Path) -> None:
    assert truth("--objects=100", "--shape=deep", "--classes=456", folder=tmp_path)["deepest_superclass_chain"] == 440
    assert 7 <= truth("--objects=1e5", folder=tmp_path)["deepest_superclass_chain"] <= 9
    assert truth("--objects=100", "--shape=list", "--references=1.5", folder=tmp_path)["deepest_superclass_chain"] == 3


# Of javac 17 while it compiles java.base, as HotSpot 17 dumped it: hprof-gen(1) says that mixed is fitted to it.
FITTED_TO = {
    "bytes": 388_166_411,
    "strings": 63_629,
    "references": 17_094_184,
    "ROOT_JNI_GLOBAL": 68,
    "ROOT_STICKY_CLASS": 1025,
    "CLASS_DUMP": 2464,
    "INSTANCE_DUMP": 4_571_507,
    "OBJECT_ARRAY_DUMP": 69_483,
    "PRIMITIVE_ARRAY_DUMP": 121_751,
}


@pytest.mark.skipif(IS_SLOW, reason="the same in all builds")
def test_mixed_is_like_the_heap_that_it_is_fitted_to(tmp_path: Path) -> None:
    objects = sum(FITTED_TO[kind] for kind in ("INSTANCE_DUMP", "OBJECT_ARRAY_DUMP", "PRIMITIVE_ARRAY_DUMP"))
    done = run(f"--objects={objects}", "-o", "/dev/null", "--manifest=truth.json", cwd=tmp_path)
    assert done.status == 0
    manifest = json.loads((tmp_path / "truth.json").read_text())
    assert {kind: (manifest | manifest["sub_records"])[kind] for kind in FITTED_TO} == pytest.approx(FITTED_TO, rel=0.01)


@pytest.mark.parametrize("like", some(LIKES.replace(" or ", ", ").split(", ")))
def test_the_readers_command_counts_the_same(like: str, tmp_path: Path) -> None:
    manifest = truth(f"--like={like}", "--objects=5000", folder=tmp_path)
    recount = subprocess.run(
        [sys.executable, "-m", "hprof_corpus.reader", tmp_path / "dump.hprof"], stdout=subprocess.PIPE, check=True
    )
    counts = json.loads(recount.stdout)
    for name in ("records", "heap_dumps", "instances", "object_arrays", "bytes", "sha256", "id_size", "version"):
        assert counts[name] == manifest[name], name
    assert counts["instance_bytes"] == sum(one["instance_bytes"] for one in manifest["classes"])


@pytest.mark.parametrize("shape", some(SHAPES.replace(" or ", ", ").split(", ")))
def test_every_shape_at_some_size(shape: str, tmp_path: Path) -> None:
    """Several segments, arrays in pieces, records that do not fit in memory: all three agree."""
    smaller = 10 if shape in ("arrays", "wide") else 1  # with large objects
    for version, objects in (("1.0.2", 30000 // smaller), ("1.0.1", 150000 // smaller)):
        manifest = truth(f"--shape={shape}", f"--dump-version={version}", f"--objects={objects}", folder=tmp_path)
        report = subprocess.run(
            [VALIDATOR, "--profile=strict", "--format=json", tmp_path / "dump.hprof"], stdout=subprocess.PIPE, check=False
        )
        file = json.loads(report.stdout)["files"][0]
        assert file["totals"] == manifest["quirks"] == {}
        assert file["bytes"] == manifest["bytes"]
        assert {name: file["counts"][name] for name in manifest["sub_records"]} == manifest["sub_records"]
        assert file["counts"]["references"] == manifest["references"]
    counts = reader.count(memoryview((tmp_path / "dump.hprof").read_bytes()))
    assert counts.references.all - counts.references.not_null == manifest["null_references"]
    assert counts.sha256 == manifest["sha256"]


# ---- The same bytes each time ----------------------------------------------------------------------------------------

# Dumps of 2,000 objects. A commit that changes one says so, for users who keep hashes of dumps.
GOLDEN = {
    "--shape=list": "388f1664003deac1",
    "--shape=mixed --like=hotspot": "12b0534522d44b8c",
    "--shape=graph --like=jdk8-agent --records=all --seed=7": "aa898fc3bdcf1232",
    "--shape=arrays --like=sa --array-length=9.5": "f5d368645612feb1",
    "--shape=wide --like=graalvm": "04a8f944cb2a2cda",
    "--shape=strings --like=mat --id-size=4": "1dab275b06528ed1",
    "--shape=threads --like=android": "e6296d117561e9f7",
    "--shape=deep --dump-version=1.0.1 --heap-dumps=2": "1acf0616d9304773",
    "--shape=tree --id-size=4 --segment-size=4K": "9312ef2ec5cbc263",
}


@pytest.mark.parametrize("options", GOLDEN)
def test_golden(options: str) -> None:
    assert hashlib.sha256(dump(*options.split(), objects=2000)).hexdigest()[:16] == GOLDEN[options]


def test_same_options_same_bytes(tmp_path: Path) -> None:
    for args in (["--gz=1"], ["--shape=graph", "--threads=20", "--seed=7"], ["--like=jdk8-agent", "--records=all"]):
        assert dump(*args) == dump(*args)
        first = truth("--objects=1000", *args, folder=tmp_path), (tmp_path / "truth.json").read_bytes()
        second = truth("--objects=1000", *args, folder=tmp_path), (tmp_path / "truth.json").read_bytes()
        assert first == second
        assert (tmp_path / "dump.hprof").read_bytes() == dump(*args)


def test_another_seed_gives_other_bytes() -> None:
    dumps = [dump(f"--seed={seed}") for seed in (0, 1, 2, 2**64 - 1)]
    assert len(set(dumps)) == 4
    assert dumps[1] == dump()
