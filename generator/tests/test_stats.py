"""hprof-validate --stats: its figures are those of the generator's manifest and of the reader in Python; all bytes of a dump are
accounted for, damaged or not; however the bytes come, the figures are the same; names and stacks of threads are right."""

import gzip
import html
import json
import os
import random
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from gen_tool import LIKES, SHAPES, SOURCE, VALIDATOR, run, truth
from some_cases import shortened, some

from hprof_corpus import reader
from hprof_corpus.assembler import assemble

SCHEMA = jsonschema.Draft202012Validator(json.loads((SOURCE / "validator/stats.schema.json").read_text()))
CORPUS = SOURCE / "corpus"
BROWSER = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
HEADER = 31


def validate(*args: str | Path, stdin: bytes | None = None, cwd: Path | None = None) -> "subprocess.CompletedProcess[bytes]":
    given: dict[str, Any] = {"input": stdin} if stdin is not None else {"stdin": subprocess.DEVNULL}
    return subprocess.run([VALIDATOR, *args], capture_output=True, check=False, timeout=120, cwd=cwd, **given)


def stats(file: Path | bytes, *args: str) -> Any:
    """Of a file, or of bytes that come through a pipe."""
    name, stdin = (file, None) if isinstance(file, Path) else ("-", file)
    done = validate("--stats", "--format=json", *args, name, stdin=stdin)
    assert (done.returncode in (0, 1), done.stderr) == (True, b""), (done.returncode, done.stderr)
    found = json.loads(done.stdout)
    SCHEMA.validate(shortened(found))
    assert found["verdict"]["status"] == done.returncode
    return found


def accounted(found: Any) -> int:
    """The bytes of all kinds."""
    kinds = [*found["records"].values(), *found["sub_records"].values(), *found["roots"].values(), found["damage"]]
    return HEADER + sum(int(kind["bytes"]) for kind in kinds)


def check_sums(found: Any) -> None:
    cells = found["map"]["cells"]
    assert accounted(found) == found["bytes"] == sum(sum(cell.values()) for cell in cells)
    assert all(sum(cell.values()) == found["map"]["cell_bytes"] for cell in cells[:-1])
    assert sum(cell.get("damage", 0) for cell in cells) == found["damage"]["bytes"]
    arrays = ("INSTANCE_DUMP", "OBJECT_ARRAY_DUMP", "PRIMITIVE_ARRAY_DUMP", "PRIMITIVE_ARRAY_NODATA")
    objects = [found["sub_records"].get(kind, {"number": 0, "bytes": 0}) for kind in arrays]
    assert found["objects"] == sum(kind["number"] for kind in objects)
    assert found["objects"] == sum(one["instances"] + one["arrays"] for one in found["classes"])
    assert sum(one["file_bytes"] for one in found["classes"]) == sum(kind["bytes"] for kind in objects)


def check_against(found: Any, manifest: Any) -> None:
    """The manifest of the generator."""
    check_sums(found)
    for name, number in manifest["records"].items():
        assert found["records"][name]["number"] == number, name
    for name, number in manifest["sub_records"].items():
        kind = found["roots"] if name.startswith("ROOT_") else found["sub_records"]
        assert kind[name]["number"] == number, name
    assert {name: one["number"] for name, one in found["roots"].items() if one["number"]} == {
        name: number for name, number in manifest["roots"].items() if number
    }
    assert (found["objects"], found["heap_dump_count"]) == (manifest["objects"], manifest["heap_dumps"])
    by_id = {one["id"] or "0x0": one for one in found["classes"] if one["id"] or not one["name"]}  # 0: objects without a class
    for one in manifest["classes"]:
        ours = by_id.get(one["id"], dict.fromkeys(("instances", "instance_bytes", "arrays", "array_bytes"), 0))
        theirs = (one["instances"], one["instance_bytes"], one["arrays"], one["elements"] * manifest["id_size"])
        assert (ours["instances"], ours["instance_bytes"], ours["arrays"], ours["array_bytes"]) == theirs, one


@pytest.mark.parametrize("like", some(LIKES.replace(" or ", ", ").split(", ")))
def test_the_manifest_has_the_same_figures(like: str, tmp_path: Path) -> None:
    for shape in random.Random().sample(SHAPES.replace(" or ", ", ").split(", "), 3):
        manifest = truth(f"--like={like}", f"--shape={shape}", "--objects=5000", folder=tmp_path)
        check_against(stats(tmp_path / "dump.hprof"), manifest)


def test_several_heap_dumps(tmp_path: Path) -> None:
    manifest = truth("--heap-dumps=3", "--objects=2000", folder=tmp_path)
    found = stats(tmp_path / "dump.hprof")
    check_against(found, manifest)
    assert len(found["heap_dumps"]) == 3
    assert sum(heap["objects"] for heap in found["heap_dumps"]) == manifest["objects"]


def test_the_reader_in_python_has_the_same_figures(tmp_path: Path) -> None:
    truth("--like=hotspot", "--objects=3000", folder=tmp_path)
    counts = reader.count(memoryview((tmp_path / "dump.hprof").read_bytes()))
    found = stats(tmp_path / "dump.hprof")
    assert found["strings"]["bytes"] == counts.string_bytes
    ours = {one["name"]: one["arrays"] for one in found["classes"] if one["id"] is None}
    assert ours == {f"{name}[]": kind.arrays for name, kind in counts.primitive_arrays_by_type.items() if kind.arrays}
    assert sum(one["instance_bytes"] for one in found["classes"]) == counts.instance_bytes


# ---- Damage ----------------------------------------------------------------------------------------------------------


def test_all_bytes_of_a_damaged_dump_are_accounted_for(tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    dice = random.Random(seed)
    truth("--like=hotspot", "--objects=3000", folder=tmp_path)
    whole = (tmp_path / "dump.hprof").read_bytes()
    damaged = 0
    for _ in range(12):
        at, size = dice.randrange(100, len(whole)), dice.randrange(1, 5000)
        kinds = [whole[:at] + bytes(size) + whole[at + size :], whole[:at], whole[:at] + whole[at + size :]]
        (tmp_path / "damaged.hprof").write_bytes(kinds[dice.randrange(3)])
        found = stats(tmp_path / "damaged.hprof")
        check_sums(found)
        damaged += found["damage"]["number"]
    assert damaged, seed


def corpus_files() -> list[Path]:
    return sorted(file for file in CORPUS.rglob("*.hprof") if file.stat().st_size > HEADER)


def test_all_bytes_of_the_corpus_are_accounted_for() -> None:
    """The check finds the header of each of these files, or says why not in the same status."""
    read = 0
    files = some(corpus_files())
    for file in files:
        done = validate("--stats", "--format=json", file)
        if done.stdout:
            found = json.loads(done.stdout)
            SCHEMA.validate(shortened(found))
            assert accounted(found) == found["bytes"], file
            read += 1
        else:
            assert done.returncode == 1, file
            assert b"header" in done.stderr, file
    assert read > len(files) / 10


# ---- However the bytes come ------------------------------------------------------------------------------------------

OF_THE_FILE = ("file", "file_bytes", "compressed", "is_read_by_lengths", "threads", "findings")


def figures(found: Any) -> Any:
    return {key: value for key, value in found.items() if key not in OF_THE_FILE}


def test_pipes_and_gzip_have_the_same_figures(tmp_path: Path) -> None:
    truth("--like=hotspot", "--objects=20000", folder=tmp_path)
    whole = (tmp_path / "dump.hprof").read_bytes()
    (tmp_path / "dump.hprof.gz").write_bytes(gzip.compress(whole, 1))
    found = stats(tmp_path / "dump.hprof")
    others = [stats(tmp_path / "dump.hprof.gz"), stats(whole), stats(gzip.compress(whole, 1))]
    for other in others:
        assert figures(other) == figures(found)
    assert others[0]["threads"] == found["threads"]
    assert [other["is_read_by_lengths"] for other in others] == [False, True, True]


def test_a_truncated_pipe_has_the_same_figures(tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    dice = random.Random(seed)
    truth("--like=hotspot", "--objects=3000", folder=tmp_path)
    whole = (tmp_path / "dump.hprof").read_bytes()
    for _ in range(10):
        (tmp_path / "cut.hprof").write_bytes(whole[: dice.randrange(2000, len(whole))])
        file, pipe = stats(tmp_path / "cut.hprof"), stats((tmp_path / "cut.hprof").read_bytes())
        for found in (file, pipe):
            check_sums(found)
        assert (file["objects"], file["records"], file["roots"]) == (pipe["objects"], pipe["records"], pipe["roots"]), seed


# ---- Threads ---------------------------------------------------------------------------------------------------------


def test_threads_have_their_names_and_stacks(tmp_path: Path) -> None:
    truth("--like=hotspot", "--shape=threads", "--threads=20", "--objects=5000", folder=tmp_path)
    threads = stats(tmp_path / "dump.hprof", "--threads")["threads"]
    assert {"main", "Reference Handler", "worker-1", "worker-13"} <= {thread["name"] for thread in threads}
    text = validate("--stats", "--threads", tmp_path / "dump.hprof").stdout.decode()
    for thread in threads:
        lines = "".join(f"    at {frame}\n" for frame in thread["frames"]) or "    no stack trace\n"
        name = f'"{thread["name"]}"' if thread["name"] else "a thread without a name"
        assert f"{name} thread serial {thread['serial']}, object {thread['object']}\n{lines}" in text


def test_a_stack_trace_of_several_threads_is_printed_once(tmp_path: Path) -> None:
    """With the first of them; and people see 1,024 frames of it."""
    lines = ['hprof "JAVA PROFILE 1.0.2" id-size 4 time 2026-01-01T00:00:00Z', 'utf8 $object "java/lang/Object"', 'utf8 $m "run"']
    lines += ["load-class serial 1 class @object name $object", 'utf8 $b "b<1>"']
    lines += ["start-thread serial 2 object @thread trace 7 name $b"]
    lines += ['utf8 $none ""', "start-thread serial 4 object @thread trace 8 name $none"]  # as most virtual threads have it
    lines += [f"frame %f{i} method $m signature $m source $m class 1 line {i + 1}" for i in range(1100)]
    lines += [f"trace serial 7 thread 2 [ {' '.join(f'%f{i}' for i in range(1100))} ]", "trace serial 8 thread 9 [ %f3 ]"]
    lines += ["trace serial 9 thread 9 [ ]", "segment {", "class-dump @object super null", "instance-dump @thread class @object"]
    traces = {9: 7, 4: 8, 6: 7, 2: 7, 5: 9, 7: 9, 8: 8}
    lines += [f"root-thread-object @thread thread {thread} trace {trace}" for thread, trace in traces.items()]
    (tmp_path / "shared.hprof").write_bytes(assemble("\n".join([*lines, "}", "end"])).file.to_bytes())
    frames = [f"java.lang.Object.run(run:{i + 1})" for i in range(1100)]
    threads = {thread["serial"]: thread for thread in stats(tmp_path / "shared.hprof", "--threads")["threads"]}
    assert {serial: thread.get("frames") for serial, thread in threads.items()} == {
        2: frames, 4: frames[3:4], 5: [], 6: None, 7: [], 8: None, 9: None,
    }  # fmt: skip
    assert {serial: thread.get("frames_of") for serial, thread in threads.items()} == {
        2: None, 4: None, 5: None, 6: 2, 7: None, 8: 4, 9: 2,
    }  # fmt: skip
    text = validate("--stats", "--threads", tmp_path / "shared.hprof").stdout.decode()
    blocks = [block.split("\n")[1:] for block in text.rstrip("\n").split("\n\n")]
    shown = [f"    at {frame}" for frame in frames]
    of_2, none = ["    the frames of thread serial 2"], ["    no stack trace"]
    more = "    and 76 more frames; --format json prints all"
    assert blocks == [[*shown[:1024], more], shown[3:4], none, of_2, none, ["    the frames of thread serial 4"], of_2]
    page = validate("--stats", "--format=html", tmp_path / "shared.hprof").stdout.decode()
    stacks = [f"at {frame}\n" for frame in frames]
    assert re.findall(r"<pre id=(t\d)>(.*?)</pre>", page, re.DOTALL) == [
        ("t0", "".join([*stacks[:1024], "and 76 more frames\n"])), ("t1", stacks[3]),
    ]  # fmt: skip
    links = re.findall(r'frames?</summary><p>the frames of <a href="#(t\d)">(.*?)</a></p></details>', page)
    assert links == [("t0", "b&lt;1&gt;"), ("t1", "a thread without a name"), ("t0", "b&lt;1&gt;")]
    assert validate("--stats", tmp_path / "shared.hprof").stdout.decode().count("Threads: 7, with 3,302 frames") == 1


def test_names_of_threads_whose_classes_have_fields_of_their_own(tmp_path: Path) -> None:
    """The name is that of java.lang.Thread, wherever it lies; two threads have the same String, and some have no name at all."""
    lines = ['hprof "JAVA PROFILE 1.0.2" id-size 4 time 2026-01-01T00:00:00Z', 'utf8 $object "java/lang/Object"']
    lines += ['utf8 $name "name"', 'utf8 $thread "java/lang/Thread"', 'utf8 $string "java/lang/String"', 'utf8 $value "value"']
    lines += ['utf8 $coder "coder"']
    lines += [f"load-class serial {i + 1} class @{name} name ${name}" for i, name in enumerate(("object", "thread", "string"))]
    lines += ["segment {", "class-dump @object super null"]
    lines += ["class-dump @thread super @object instance-size 5 {\nfield $value byte\nfield $name object\n}"]
    lines += ["class-dump @sub super @thread instance-size 17 {\nfield $name object\nfield $value long\n}"]
    lines += ["class-dump @subsub super @sub instance-size 19 {\nfield $coder short\n}", "class-dump @plain super @subsub"]
    lines += ["class-dump @round super @circle", "class-dump @circle super @round"]
    lines += ["class-dump @string super @object instance-size 5 {\nfield $value object\nfield $coder byte\n}"]
    of_thread, of_sub = "byte 7 object @s", "object @other long 3"
    values = {"thread": of_thread, "sub": f"{of_sub} {of_thread}", "round": "", "object": ""}
    values |= dict.fromkeys(("subsub", "plain"), f"short 1 {of_sub} {of_thread}")
    lines += [f"instance-dump @t{i} class @{name} [ {fields} ]" for i, (name, fields) in enumerate(values.items())]
    lines += [f"root-thread-object @t{i} thread {i + 1} trace 0" for i in range(len(values))]
    lines += ["instance-dump @s class @string [ object @text byte 1 ]", "primitive-array-dump @text type byte [ 0x2d4e2d4e ]"]
    lines += ["instance-dump @other class @string [ object null byte 0 ]", "}", "end"]
    (tmp_path / "fields.hprof").write_bytes(assemble("\n".join(lines)).file.to_bytes())
    found = {thread["serial"]: thread["name"] for thread in stats(tmp_path / "fields.hprof")["threads"]}
    assert found == {i + 1: None if name in ("round", "object") else "\u4e2d\u4e2d" for i, name in enumerate(values)}


def test_each_kind_of_line_number_is_shown_as_jstack_does(tmp_path: Path) -> None:
    method = "m" + "\u4e2d" * 100  # 301 bytes: some are left out
    frames = {"7": "A.java:7", "0": "A.java", "-1": "A.java", "-2": "A.java, compiled", "-3": "Native Method"}
    lines = ['hprof "JAVA PROFILE 1.0.2" id-size 8 time 2026-01-01T00:00:00Z', 'utf8 $object "java/lang/Object"']
    lines += ["load-class serial 1 class @object name $object", f'utf8 $m "{method}"', 'utf8 $v "()V"', 'utf8 $file "A.java"']
    lines += [f"frame %f{i} method $m signature $v source $file class 1 line {line}" for i, line in enumerate(frames)]
    lines += ["frame %none method $m signature $v class 9 line 5"]  # no source file, and a class that is not loaded
    lines += [f"trace serial 1 thread 1 [ {' '.join(f'%f{i}' for i in range(len(frames)))} %none %nowhere ]", "segment {"]
    lines += ["class-dump @object super null", "instance-dump @thread class @object", "root-thread-object @thread thread 1 trace 1"]
    data = assemble("\n".join([*lines, "}", "end"])).file.to_bytes()
    (tmp_path / "lines.hprof").write_bytes(data)
    (thread,) = stats(tmp_path / "lines.hprof")["threads"]
    expected = [f"java.lang.Object.{method[:85]}({where})" for where in frames.values()]
    assert thread["frames"] == [*expected, f"unknown class.{method[:85]}(Unknown Source:5)", "a frame that is not defined"]


def test_names_of_classes_are_those_of_the_dump(tmp_path: Path) -> None:
    """Beyond ASCII, too: a letter beyond it was a question mark for each of its bytes."""
    names = ["N\u00e4me\u20ac", "\u540d\u524d", "x" * 300, "\u00e9" * 200]
    lines = ['hprof "JAVA PROFILE 1.0.2" id-size 8 time 2026-01-01T00:00:00Z', 'utf8 $object "java/lang/Object"']
    lines += ["load-class serial 1 class @object name $object"]
    lines += [f'utf8 $n{i} "{name}"\nload-class serial {i + 2} class @c{i} name $n{i}' for i, name in enumerate(names)]
    lines += ["segment {", "class-dump @object super null"]
    lines += [f"class-dump @c{i} super @object\ninstance-dump @o{i} class @c{i}" for i in range(len(names))]
    (tmp_path / "names.hprof").write_bytes(assemble("\n".join([*lines, "}", "end"])).file.to_bytes())
    found = [one["name"] for one in stats(tmp_path / "names.hprof")["classes"] if one["instances"]]
    assert {*names[:2]} <= {*found}
    for name in names[2:]:
        (one,) = (one for one in found if one.startswith(name[:50]))
        assert name.startswith(one.removesuffix("...")) and 245 <= len(one.encode()) <= 255 and one.endswith("...")
    page = validate("--stats", "--format=html", tmp_path / "names.hprof").stdout.decode()
    assert all(html.escape(name) in page for name in names[:2])


def test_the_report_and_the_page_have_the_same_largest_classes(tmp_path: Path) -> None:
    """Of classes with as many objects, the one with more bytes comes first. A class without a name is shown by its ID."""
    numbers = random.Random().sample([*range(1, 40), *range(1, 40)], 50)
    lines = ['hprof "JAVA PROFILE 1.0.2" id-size 8 time 2026-01-01T00:00:00Z', 'utf8 $object "java/lang/Object"', 'utf8 $f "f"']
    lines += ["load-class serial 1 class @object name $object", "segment {", "class-dump @object super null"]
    for i, number in enumerate(numbers):
        lines += [f"class-dump @c{i} super @object instance-size 8 {{\nfield $f long\n}}"]
        lines += [f"instance-dump @o{i}-{n} class @c{i} [ long {n} ]" for n in range(number)]
    lines += [f"primitive-array-dump @a{n} type int [ 1 2 3 ]" for n in range(45)]
    (tmp_path / "some.hprof").write_bytes(assemble("\n".join([*lines, "}", "end"])).file.to_bytes())
    classes = stats(tmp_path / "some.hprof")["classes"]
    text = validate("--stats", tmp_path / "some.hprof").stdout.decode()
    page = validate("--stats", "--format=html", tmp_path / "some.hprof").stdout.decode()

    def largest(*keys: str) -> list[tuple[str, str]]:
        """Names and numbers of objects."""
        first = sorted(classes, key=lambda one: [-one[f"instance{key}"] - one[f"array{key}"] for key in keys])
        return [(one["name"] or f"class {one['id']} without a name", str(one["instances"] + one["arrays"])) for one in first]

    for title, keys in (("bytes", ("_bytes", "s")), ("objects", ("s", "_bytes"))):
        section = text.split(f"Classes with the most {title}\n")[1].split("\n\n")[0]
        rows = re.findall(r"^ +(\d+) +\d+ +[0-9.]+ %  (.*)$", section, re.MULTILINE)
        assert [(name, number) for number, name in rows] == largest(*keys)[:8]
        section = page.split(f"<h2 id={title}>")[1].split("</table>")[0]
        rows = re.findall(r"<td class=name>(.*?)</td><td class=n>(\d+)</td>", section)
        assert [(html.unescape(name.replace("<wbr>", "")), number) for name, number in rows] == largest(*keys)[:30]


def test_a_name_of_start_thread_is_cut_between_characters(tmp_path: Path) -> None:
    names = ["a thread that has no object in the heap", "x" + "\u00e9" * 250]
    lines = ['hprof "JAVA PROFILE 1.0.2" id-size 8 time 2026-01-01T00:00:00Z']
    lines += [f'utf8 $n{i} "{name}"\nstart-thread serial {i + 1} object @t{i} trace 0 name $n{i}' for i, name in enumerate(names)]
    (tmp_path / "named.hprof").write_bytes(assemble("\n".join(lines)).file.to_bytes())
    found = [thread["name"] for thread in stats(tmp_path / "named.hprof")["threads"]]
    assert found[0] == names[0]
    assert 99 <= len(found[1]) <= 200 and names[1].startswith(found[1])


@pytest.mark.skipif(shutil.which("jcmd") is None, reason="no jcmd")
def test_a_jvm_prints_the_same_stacks(tmp_path: Path) -> None:
    """Threads that wait have the same stack in jcmd Thread.print and in the dump."""
    source = """public class Waits {
        static void deep(int n) throws Exception {
            if (n > 0) deep(n - 1);
            else { System.out.println("ready"); Thread.sleep(1000000); }
        }
        public static void main(String[] args) throws Exception {
            Thread.currentThread().setName("caf\\u00e9 \\u4e2d <b>&");
            deep(5);
        }
    }"""
    (tmp_path / "Waits.java").write_text(source)
    command = ["java", "-Xmx32m", "-XX:+UseSerialGC", "Waits.java"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=tmp_path) as java:
        try:
            assert java.stdout and java.stdout.readline() == b"ready\n"
            dump = ["jcmd", str(java.pid), "GC.heap_dump", str(tmp_path / "jvm.hprof")]
            subprocess.run(dump, check=True, stdout=subprocess.DEVNULL)
            printed = subprocess.run(["jcmd", str(java.pid), "Thread.print"], check=True, capture_output=True).stdout.decode()
        finally:
            java.kill()
    threads = {thread["name"]: thread["frames"] for thread in stats(tmp_path / "jvm.hprof")["threads"]}
    assert "café 中 <b>&" in threads
    stacks = [re.match(r'"([^"]+)" #', block) for block in printed.split("\n\n")]
    truths = {found[1]: re.findall(r"^\tat (.*)$", found.string, re.MULTILINE) for found in stacks if found}
    compared = 0
    for name, frames in truths.items():
        # In the name of a hidden class, the VM has a plus sign where jcmd prints a slash.
        methods = [frame.split("(")[0].replace("/0x", "+0x") for frame in frames]
        if name in threads and len(methods) > 3:
            assert [frame.split("(")[0] for frame in threads[name]] == methods, name
            compared += 1
    assert compared >= 2


# ---- The page --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("warning", "shown"), [("STK-012", "OBJ-002"), ("OBJ-002", "STK-012")])
def test_a_mark_leads_to_the_gravest_of_its_findings(warning: str, shown: str, tmp_path: Path) -> None:
    """Two findings so close that the map has one mark for them."""
    lines = ['hprof "JAVA PROFILE 1.0.2" id-size 4 time 2026-01-01T00:00:00Z', 'utf8 $object "java/lang/Object"']
    lines += ["load-class serial 1 class @object name $object", "segment {", "class-dump @object super null"]
    lines += ["instance-dump @one class @object trace 9", "instance-dump @two class @nowhere", "root-sticky-class @object"]
    lines += ["}", "end"]
    (tmp_path / "two.hprof").write_bytes(assemble("\n".join(lines)).file.to_bytes())
    options = ("--profile=strict", f"--warn={warning}", "--stats", "--format=html")
    page = validate(*options, tmp_path / "two.hprof").stdout.decode()
    (mark,) = re.findall(r'<a class="mark error" href="#(f[01])".*? title="(\S+) at .*? and 1 more">', page)
    assert mark[1] == shown
    assert re.search(rf"<tr id={mark[0]}>.*?>{shown}<", page)


def test_each_mark_leads_to_its_finding_and_what_is_left_out_is_counted(tmp_path: Path) -> None:
    """The page has the first hundred findings and damaged ranges; a mark beyond them led to the first finding."""
    lines = ['hprof "JAVA PROFILE 1.0.1" id-size 4 time 2026-01-01T00:00:00Z', 'utf8 $object "java/lang/Object"']
    lines += ["load-class serial 1 class @object name $object"]
    for heap in range(150):
        lines += ["heap-dump {", *(["class-dump @object super null"] if heap == 0 else [])]
        lines += [f"instance-dump @x{heap} class @nowhere"]
        lines += [f"instance-dump @y{heap} class @object trace 9\nraw 0xff\n}}"]
    (tmp_path / "many.hprof").write_bytes(assemble("\n".join(lines)).file.to_bytes())
    options = ("--profile=strict", "--max-errors=0", "--stats")
    found = json.loads(validate(*options, "--format=json", tmp_path / "many.hprof").stdout)
    page = validate(*options, "--format=html", tmp_path / "many.hprof").stdout.decode()
    rows = {row[1]: row[2] for row in re.finditer(r"<tr id=(f\d+)>.*?<td class=\w+>(\S+)</td>", page)}
    marks = re.findall(r'<a class="mark \w+" href="#(f\d+)".*? title="(\S+) at ', page)
    beyond = [row for row in rows if int(row[1:]) >= 100]
    assert beyond and {*beyond} <= {row for row, _ in marks}
    for row, rule in marks:
        assert rows[row] == rule
    verdict = found["verdict"]
    lefts = {"findings": verdict["errors"] + verdict["warnings"] - len(rows)}
    lefts |= {"damage": found["damage"]["number"] - 100, "heaps": found["heap_dump_count"] - 100}
    for table, left in lefts.items():
        assert left > 0
        assert f"</table></div>\n<p class=note>and {left} more</p>" in page.split(f"<h2 id={table}>")[1].split("<h2")[0], table


PROBE = """<pre id=probe></pre><script>
const box = one => one.getBoundingClientRect(), all = what => [...document.querySelectorAll(what)];
const svg = document.querySelector('svg');
document.getElementById('probe').textContent = JSON.stringify({
  wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  left: box(svg).left, width: box(svg).width,
  damage: all('svg .k8').map(one => [box(one).left, box(one).right]),
  marks: all('.mark').map(one => [(box(one).left + box(one).right) / 2, one.className, one.title,
    document.querySelector(one.getAttribute('href')).innerText]),
  covered: all('svg rect').reduce((sum, one) => sum + box(one).width * box(one).height, 0) / box(svg).width / box(svg).height,
  colors: all('.legend i').map(one => getComputedStyle(one).backgroundColor),
  back: getComputedStyle(document.body).backgroundColor,
  remote: performance.getEntriesByType('resource').length,
  legend: all('.legend li').map(one => Number(one.dataset.bytes)),
  verdict: document.querySelector('.verdict').innerText,
  names: all('#bytes + .scroll td.name').map(one => one.innerText),
  threads: all('details summary').map(one => one.innerText),
});
</script>"""


def probe(page: str, folder: Path, width: int, *options: str) -> Any:
    """What the page shows in a browser whose window is so wide: a frame, since windows have a least width."""
    assert BROWSER is not None
    (folder / "page.html").write_text(page.replace("</body>", PROBE + "</body>"), encoding="utf-8")
    frame = f'<!DOCTYPE html><body style="margin:0"><iframe src=page.html style="border:0;width:{width}px;height:900px"></iframe>'
    frame += "<pre id=got></pre><script>onload = () => got.textContent = frames[0].document.getElementById('probe').textContent;"
    (folder / "frame.html").write_text(frame + "</script>")
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--virtual-time-budget=2000"]
    command += ["--allow-file-access-from-files", f"--user-data-dir={folder}/profile", "--window-size=1400,1000", *options]
    done = subprocess.run([*command, "--dump-dom", f"file://{folder}/frame.html"], capture_output=True, text=True, check=True)
    found = re.search(r"<pre id=\"got\">(.*?)</pre>", done.stdout, re.DOTALL)
    assert found and found[1], done.stdout[-500:]
    return json.loads(html.unescape(found[1]))


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_shows_what_the_report_says(width: int, tmp_path: Path) -> None:
    truth("--like=hotspot", "--objects=20000", folder=tmp_path)
    whole = bytearray((tmp_path / "dump.hprof").read_bytes())
    at = len(whole) * 2 // 3
    whole[at : at + 40000] = bytes(40000)
    (tmp_path / "a&b<i>.hprof").write_bytes(whole)
    found = stats(tmp_path / "a&b<i>.hprof")
    page = validate("--stats", "--format=html", tmp_path / "a&b<i>.hprof").stdout.decode()
    assert "src=" not in page and "http" not in page and "@import" not in page
    shown = probe(page, tmp_path, width)
    assert shown["wide"] <= 0  # no sideways scrolling
    assert shown["remote"] == 0
    assert shown["covered"] == pytest.approx(1, abs=0.04)  # the border is not covered

    def position(offset: int) -> float:
        return float(shown["left"] + shown["width"] * offset / found["bytes"])

    # The damage is drawn where it is, a cell more or less; and each finding has its mark above it.
    a_cell = shown["width"] * found["map"]["cell_bytes"] / found["bytes"] + 1
    for damage in found["damaged"]:
        middle = position(damage["offset"] + damage["bytes"] // 2)
        assert any(left - a_cell <= middle <= right + a_cell for left, right in shown["damage"]), damage
    assert found["damaged"] and found["findings"]
    for finding in found["findings"]:
        if finding["offset"] is not None and finding["offset_in"] == "dump":
            near = [mark for mark in shown["marks"] if abs(mark[0] - position(finding["offset"])) <= a_cell]
            assert near, finding
    for _, name, title, row in shown["marks"]:
        rule = title.split()[0]
        assert rule in row
        assert name.split()[1] in {finding["severity"] for finding in found["findings"] if finding["rule"] == rule}
    totals = [sum(cell.get(kind, 0) for cell in found["map"]["cells"]) for kind in KINDS]
    assert shown["legend"] == [total for total in totals if total]
    assert len(set(shown["colors"])) == len(shown["colors"])
    assert shown["verdict"].startswith("INVALID, ")
    largest = [one for one in found["classes"] if one["instances"] + one["arrays"]][:30]
    assert shown["names"] == [one["name"] for one in largest]
    assert len(shown["threads"]) == len(found["threads"])


KINDS = ("names", "classes", "stacks", "instances", "object arrays", "primitive arrays", "roots", "other", "damage")


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")
def test_the_page_is_dark_for_who_wants_that(tmp_path: Path) -> None:
    truth("--objects=100", folder=tmp_path)
    page = validate("--stats", "--format=html", tmp_path / "dump.hprof").stdout.decode()
    backs = [probe(page, tmp_path, 800, *more)["back"] for more in ([], ["--blink-settings=preferredColorScheme=0"])]
    assert backs == ["rgb(255, 255, 255)", "rgb(21, 23, 26)"]


# ---- Usage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args",
    [
        ["--threads", "FILE"],
        ["--format=html", "FILE"],
        ["--stats"],
        ["--stats", "FILE", "FILE"],
        ["--stats", "--threads", "--format=html", "FILE"],
        ["--stats", "--format=sarif", "FILE"],
        ["--stats", "--show=0", "FILE"],
        ["--stats", "--stdin-name=x", "FILE"],
        ["--stats", "--baseline=x", "FILE"],
        ["--repair=x", "--baseline=x", "FILE"],
        ["--show=0", "--baseline=x", "FILE"],
    ],
)
def test_wrong_usage(args: list[str], tmp_path: Path) -> None:
    run("--objects=10", "-o", tmp_path / "FILE")
    done = validate(*args, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"hprof-validate: " in done.stderr


def test_quiet(tmp_path: Path) -> None:
    run("--objects=10", "-o", tmp_path / "a.hprof")
    verdict = validate("--quiet", tmp_path / "a.hprof").stdout
    assert verdict.count(b"\n") == 1
    for more in ([], ["--threads"]):
        assert validate("--stats", "--quiet", *more, tmp_path / "a.hprof").stdout == verdict
        assert validate("--stats", "-qq", *more, tmp_path / "a.hprof").stdout == b""
    full = validate("--stats", tmp_path / "a.hprof").stdout
    assert validate("--stats", "-qq", "--output", tmp_path / "report", tmp_path / "a.hprof").returncode == 0
    assert (tmp_path / "report").read_bytes() == full != verdict
    assert validate("--stats", "-q", "-f", "json", tmp_path / "a.hprof").stdout.startswith(b"{")


def test_what_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "none").write_bytes(os.urandom(1000))
    assert validate("--stats", tmp_path / "missing").returncode == 3
    done = validate("--stats", tmp_path / "none")
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"header" in done.stderr
    assert validate("--stats", "-", stdin=b"").returncode == 1
