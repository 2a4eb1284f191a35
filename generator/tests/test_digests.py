"""The digests that hprof-gen writes, made from the events of the generator, against those that hprof_corpus.digest computes from
the bytes of the dump."""

import itertools
import json
import resource
from pathlib import Path
from typing import Any

import pytest
from gen_tool import IS_SLOW, LIKES, SCHEMA, SHAPES, SOURCE, Done, run, truth
from some_cases import shortened, some

from hprof_corpus import digest
from hprof_corpus.assembler import assemble
from hprof_corpus.walk import FramingError

CORPUS = SOURCE / "corpus"


def names(text: str) -> list[str]:
    return text.replace(" or ", ", ").split(", ")


def computed(dump: bytes) -> Any:
    return digest.digests(memoryview(dump)).to_json()


def check(*args: str, folder: Path) -> Any:
    """Returns the digests, once both sides agree."""
    found = truth("--digests", *args, folder=folder)["digests"]
    assert found == computed((folder / "dump.hprof").read_bytes())
    return found


# ---- Dumps that are made ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("like", some(names(LIKES)))
def test_producers(like: str, tmp_path: Path) -> None:
    """Names with dots or slashes, classes after their instances, dangling references, booleans of 7, arrays without elements."""
    check(f"--like={like}", "--objects=2000", folder=tmp_path)
    check(f"--like={like}", "--objects=600", "--heap-dumps=3", folder=tmp_path)


@pytest.mark.parametrize("like", ["plain", "jdk8-agent", "android"])
def test_unusual_records(like: str, tmp_path: Path) -> None:
    version = "1.0.3" if like == "android" else "1.0.2"
    records = [] if like == "android" else ["--records=all"]
    check(f"--like={like}", *records, f"--dump-version={version}", "--objects=500", folder=tmp_path)


@pytest.mark.parametrize(("shape", "id_size"), some(itertools.product(names(SHAPES), ["4", "8"])))
def test_shapes(shape: str, id_size: str, tmp_path: Path) -> None:
    check(f"--shape={shape}", f"--id-size={id_size}", "--objects=300", folder=tmp_path)


@pytest.mark.parametrize("objects", range(5))
def test_small_heaps(objects: int, tmp_path: Path) -> None:
    found = check(f"--objects={objects}", folder=tmp_path)
    assert sum(found["exact"][kind]["count"] for kind in ("instances", "object_arrays", "primitive_arrays")) == objects
    check(f"--objects={objects}", "--like=graalvm", "--id-size=8", folder=tmp_path)


@pytest.mark.parametrize("version", ["1.0.1", "1.0.2"])
def test_many_segments_and_heap_dumps(version: str, tmp_path: Path) -> None:
    segments = ["--segment-size=1K"] if version == "1.0.2" else []
    check(f"--dump-version={version}", *segments, "--heap-dumps=7", "--objects=1000", folder=tmp_path)


@pytest.mark.skipif(IS_SLOW, reason="the same in all builds")
def test_bodies_in_parts(tmp_path: Path) -> None:
    """Arrays and texts of more than 64 KiB."""
    check("--shape=arrays", "--array-length=30000", "--objects=60", folder=tmp_path)
    check("--shape=strings", "--string-length=100000", "--objects=40", folder=tmp_path)
    check("--shape=strings", "--string-length=100000", "--objects=40", "--like=jdk8-agent", folder=tmp_path)


def test_segments_change_nothing(tmp_path: Path) -> None:
    found = [check("--objects=2000", f"--segment-size={size}", folder=tmp_path) for size in ("100", "1M")]
    assert found[0] == found[1]


def test_without_the_option_there_are_none(tmp_path: Path) -> None:
    assert "digests" not in truth("--objects=10", folder=tmp_path)


def test_the_same_dump_with_and_without(tmp_path: Path) -> None:
    """All other entries of the manifest stay as they are, also in a compressed dump."""
    plain = truth("--objects=3000", "--gz=1", folder=tmp_path)
    more = truth("--objects=3000", "--gz=1", "--digests", folder=tmp_path)
    assert more.pop("digests") == computed((tmp_path / "dump.hprof").read_bytes())
    assert more == plain


# ---- Dumps that are read ---------------------------------------------------------------------------------------------


def take(folder: Path) -> Done:
    return run("--from=a", "-o", "b", "--manifest=b.json", "--digests", cwd=folder)


def taken(done: Done, folder: Path) -> Any:
    assert done.status == 0, done.err
    manifest = json.loads((folder / "b.json").read_text())
    SCHEMA.validate(shortened(manifest))
    return manifest["digests"]


def check_text(text: str, folder: Path) -> None:
    data = assemble(text).file.to_bytes()
    (folder / "a").write_bytes(data)
    assert taken(take(folder), folder) == computed(data)


def corpus_files() -> list[Path]:
    folders = ["valid", "warning", "invalid", "several"]
    return some(sorted(path for folder in folders for path in (CORPUS / folder).rglob("*.hprof*") if path.is_file()))


def test_the_corpus(tmp_path: Path) -> None:
    """Every dump that can be read, also malformed ones, of which the readable part is written."""
    compared = 0
    files = corpus_files()
    for path in files:
        (tmp_path / "a").write_bytes(path.read_bytes())
        done = take(tmp_path)
        if done.status != 0:
            assert done.status == 3, path
            continue
        try:
            right = computed((tmp_path / "b").read_bytes())
        except FramingError:
            continue  # for example a UTF8 record that is too short for its ID
        assert taken(done, tmp_path) == right, path
        compared += 1
    assert compared > len(files) / 3


def examples() -> list[str]:
    text = (SOURCE / "conformance/PROTOCOL.md").read_text(encoding="utf-8")
    blocks = text.split("```")[1::2]
    return [block.lstrip("\n") for block in blocks if block.startswith("\nhprof ")]


@pytest.mark.parametrize("example", examples(), ids=lambda text: str(len(text)))
def test_the_worked_examples(example: str, tmp_path: Path) -> None:
    check_text(example, tmp_path)


def instance(fields: str, values: str, array: str) -> str:
    return f"""hprof "JAVA PROFILE 1.0.2" id-size 8 time 0
utf8 $String "java/lang/String"
utf8 $value "value"
utf8 $coder "coder"
utf8 $offset "offset"
utf8 $count "count"
load-class serial 1 class @String name $String
segment {{
  class-dump @String super null {{
    {fields}
  }}
  instance-dump @a class @String [ {values} ]
  primitive-array-dump @array type {array}
}}
end
"""


CHARS, BYTES = 'char [ "hello" ]', "byte [ 0x6800650066 ]"
OLD = "field $value object\n field $offset int\n field $count int"
NEW = "field $value object\n field $coder byte"
STRINGS = {
    "part": instance(OLD, "object @array int 1 int 3", CHARS),
    "empty part": instance(OLD, "object @array int 5 int 0", CHARS),
    "part beyond the array": instance(OLD, "object @array int 3 int 9", CHARS),
    "part outside the array": instance(OLD, "object @array int 8 int 1", CHARS),
    "negative part": instance(OLD, "object @array int -1 int -1", CHARS),
    "latin-1": instance(NEW, "object @array byte 0", BYTES),
    "utf-16 of odd bytes": instance(NEW, "object @array byte 1", BYTES),
    "unknown coder": instance(NEW, "object @array byte 2", BYTES),
    "no coder": instance("field $value object", "object @array", BYTES),
    "no value": instance("field $coder byte", "byte 1", BYTES),
    "null": instance(NEW, "object null byte 0", BYTES),
    "class": instance(NEW, "object @String byte 0", BYTES),
    "itself": instance(NEW, "object @a byte 0", BYTES),
    "other array": instance(NEW, "object @array byte 0", "int [ 1 2 ]"),
}


@pytest.mark.parametrize("case", STRINGS)
def test_strings(case: str, tmp_path: Path) -> None:
    check_text(STRINGS[case], tmp_path)


NAMES = """hprof "JAVA PROFILE 1.0.2" id-size 4 time 0
utf8 $first "first.Name"
utf8 $second "second/Name[][]"
utf8 $array "[Lfirst.Name;"
utf8 $bytes 0xff
load-class serial 1 class @A name $first
load-class serial 2 class @A name $second
load-class serial 3 class @B name $array
load-class serial 4 class @C name $bytes
segment {
  class-dump @A super null
  class-dump @B super @A
}
end
unload-class serial 1
segment {
  class-dump @A super @D
  instance-dump @a class @A [ ]
  class-dump @C super @A
}
load-class serial 5 class @E name $first
segment {
  class-dump @E super null
  object-array-dump @e class @D [ @a @E 0x99 null ]
}
end
unload-class serial 2
heap-dump {
  class-dump @A super null
  instance-dump @b class @A [ ]
}
load-class serial 6 class @D name $first
"""


def test_names_of_classes_that_are_unloaded_and_loaded(tmp_path: Path) -> None:
    check_text(NAMES, tmp_path)


def test_an_id_that_is_defined_twice(tmp_path: Path) -> None:
    text = STRINGS["latin-1"].replace("  instance-dump @a class @String [ object @array byte 0 ]\n", "")
    twice = text.replace("  primitive-array-dump", "  primitive-array-dump @array type int [ 1 ]\n  primitive-array-dump")
    (tmp_path / "a").write_bytes(assemble(twice).file.to_bytes())
    done = take(tmp_path)
    assert done.status == 3
    assert done.err == "hprof-gen: a: --digests: a heap dump defines an ID twice, so its content is not defined\n"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


# ---- What is refused, what fails --------------------------------------------------------------------------------------


def test_only_in_a_manifest_of_a_dump_without_faults(tmp_path: Path) -> None:
    done = run("--digests", "--objects=10", "-o", "a", cwd=tmp_path)
    assert (done.status, done.err.splitlines()[0]) == (2, "hprof-gen: --digests adds to the --manifest, which is not given")
    done = run("--digests", "--manifest=m", "--violate=REF-002", "-o", "a", cwd=tmp_path)
    assert done.status == 2
    assert done.err.startswith("hprof-gen: --digests does not go with --violate: a fault leaves open what the content")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(IS_SLOW, reason="the sanitizers have a malloc of their own, and gcov takes for granted that there is memory")
@pytest.mark.parametrize("megabytes", [8, 16, 24])
def test_memory_that_runs_out(megabytes: int, tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (megabytes << 20, megabytes << 20))

    done = run("--digests", "--objects=1e6", "-o", "a", "--manifest=m", cwd=tmp_path, preexec_fn=limit)
    assert (done.status, done.err) == (4, "hprof-gen: dump: out of memory\n")
    assert not list(tmp_path.iterdir())
