"""hprof-diff by content: other IDs are no difference, whatever the dump; one planted difference is found, and named by its path."""

import json
import os
import random
import struct
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from gen_tool import SOURCE, VALIDATOR, dump, memory_of, run
from other_ids import renumber
from some_cases import SHARE, any_one, shortened, some

from hprof_conformance import gold
from hprof_corpus.assembler import assemble
from hprof_corpus.walk import Shapes, records, subrecords

TOOL = os.environ["HPROF_DIFF"]
SCHEMA = jsonschema.Draft202012Validator(json.loads((SOURCE / "validator/diff.schema.json").read_text()))
NOTHING = "No difference found with 4 rounds."


def diff(*args: str | Path) -> "subprocess.CompletedProcess[str]":
    command = [TOOL, *args]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, stdin=subprocess.DEVNULL)


def report(a: Path, b: Path, *args: str) -> Any:
    done = diff("--format=json", *args, a, b)
    assert (done.returncode in (0, 1), done.stderr) == (True, ""), (done.returncode, done.stderr)
    found = json.loads(done.stdout)
    SCHEMA.validate(shortened(found))
    assert found["by"] == "content"
    assert found["different"] == (done.returncode == 1) == any(c["only_in_a"] + c["only_in_b"] for c in found["kinds"].values())
    assert diff("--quiet", *args, a, b).returncode == done.returncode
    return found


def shown(found: Any) -> list[tuple[str, str, list[tuple[str, str, str]]]]:
    """The differences, without IDs, which the tool prints after the class: "Node 0x7000"."""

    def plain(text: str) -> str:
        return " ".join(word for word in text.split() if not word.startswith("0x"))

    return [
        (one["path"], one["class"], [(part["what"], plain(part["a"]), plain(part["b"])) for part in one["parts"]])
        for one in found["differences"]
    ]


# ---- Other IDs -------------------------------------------------------------------------------------------------------


def check_other_ids(data: bytes, tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    dice = random.Random(seed)
    (tmp_path / "a").write_bytes(data)
    for id_size, shuffle in ((None, True), (dice.choice([4, 8]), dice.choice([False, True]))):
        (tmp_path / "b").write_bytes(renumber(data, dice, id_size, shuffle))
        found = report(tmp_path / "a", tmp_path / "b", "--by=content")
        assert (found["different"], found["differences"], found["roots"]) == (False, [], []), seed


@pytest.mark.parametrize("name", any_one(["jdk8-i386", "jdk17", "agent8", "jdk25-odd-all"]))
def test_real_dumps_with_other_ids_have_no_difference(name: str, tmp_path: Path) -> None:
    check_other_ids(gold.read(SOURCE, name), tmp_path)


@pytest.mark.parametrize("shape", some(["mixed", "list", "tree", "graph", "arrays", "wide", "deep", "threads"]))
def test_made_dumps_with_other_ids_have_no_difference(shape: str, tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    check_other_ids(dump("--like=hotspot", f"--shape={shape}", f"--seed={seed}", objects=3000), tmp_path)


def test_another_seed_is_another_content(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 2)):
        (tmp_path / name).write_bytes(dump("--like=hotspot", f"--seed={seed}"))
    assert report(tmp_path / "a", tmp_path / "b", "--by=content")["different"]


def test_more_than_a_million_objects_are_all_counted(tmp_path: Path) -> None:
    """Digests are counted in parts: each object is in one of them."""
    (tmp_path / "a").write_bytes(dump("--shape=list", objects=700_000))
    kinds = report(tmp_path / "a", tmp_path / "a", "--by=content", "--rounds=1")["kinds"]
    assert sum(kinds[kind]["same"] for kind in ("instances", "object_arrays", "primitive_arrays")) == 700_000


@pytest.mark.skipif("HPROF_SLOW" in os.environ, reason="the sanitizer's own memory")
@pytest.mark.parametrize("jobs", any_one([1, 2, 16]))
def test_an_object_takes_24_bytes_of_memory(jobs: int, tmp_path: Path) -> None:
    """Where nearly all differs, so that all steps are taken."""
    objects, constant = 4_000_000, 16 << 20
    for name, seed in (("a", 1), ("b", 2)):
        run("--load=map", f"--seed={seed}", f"--objects={objects}", "--output", tmp_path / name)
    status, memory = memory_of(TOOL, "--quiet", "--by=content", f"--jobs={jobs}", tmp_path / "a", tmp_path / "b")
    assert status == 1
    assert memory <= 24 * 2 * objects + constant


def test_without_rounds_a_changed_value_is_one_object(tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    dice = random.Random(seed)
    data = dump("--like=hotspot", f"--seed={seed}", objects=500)
    (tmp_path / "a").write_bytes(data)
    arrays = [
        (tail, end)
        for record in records(data, 31)
        if record.tag in (0x0C, 0x1C)
        for shape, _, _, tail, end in subrecords(data, record.body, record.end, Shapes(8))
        if shape.record.name == "PRIMITIVE_ARRAY_DUMP" and end > tail
    ]
    for tail, end in dice.sample(arrays, 3):
        other = bytearray(data)
        other[dice.randrange(tail, end)] ^= 1
        (tmp_path / "b").write_bytes(renumber(bytes(other), dice, shuffle=True))
        found = report(tmp_path / "a", tmp_path / "b", "--by=content", "--rounds=0")
        counts = {kind: (c["only_in_a"], c["only_in_b"]) for kind, c in found["kinds"].items()}
        assert counts.pop("primitive_arrays") == (1, 1), seed
        counts.pop("roots")  # it may be the name of their thread
        assert set(counts.values()) == {(0, 0)}, seed


# ---- One difference --------------------------------------------------------------------------------------------------

TEXT = """hprof "JAVA PROFILE 1.0.2" id-size 8 time 2026-01-01T00:00:00Z
utf8 $Object "java/lang/Object"
utf8 $Objects "[Ljava/lang/Object;"
utf8 $String "java/lang/String"
utf8 $Thread "java/lang/Thread"
utf8 $List "java/util/ArrayList"
utf8 $Map "java/util/HashMap"
utf8 $Identity "java/util/IdentityHashMap"
utf8 $Entry "java/util/HashMap$Node"
utf8 $Entries "[Ljava/util/HashMap$Node;"
utf8 $Node "Node"
utf8 $Main "Main"
utf8 $value "value"
utf8 $name "name"
utf8 $eetop "eetop"
utf8 $elementData "elementData"
utf8 $size "size"
utf8 $table "table"
utf8 $hash "hash"
utf8 $key "key"
utf8 $next "next"
utf8 $list "list"
utf8 $map "map"
utf8 $identity "identity"
utf8 $head "head"
utf8 $number "number"
load-class serial 1 class @Object name $Object
load-class serial 2 class @Objects name $Objects
load-class serial 3 class @String name $String
load-class serial 4 class @Thread name $Thread
load-class serial 5 class @List name $List
load-class serial 6 class @Map name $Map
load-class serial 7 class @Entry name $Entry
load-class serial 8 class @Entries name $Entries
load-class serial 9 class @Node name $Node
load-class serial 10 class @Main name $Main
load-class serial 11 class @Identity name $Identity
frame %run method $name signature $value class 10 line 7
trace serial 1 thread 1 [ %run ]
segment {
  class-dump @Object super null
  class-dump @Objects super @Object
  class-dump @Entries super @Object
  class-dump @String super @Object {
    field $value object
  }
  class-dump @Thread super @Object {
    field $name object
    field $eetop long
  }
  class-dump @List super @Object {
    field $elementData object
    field $size int
  }
  class-dump @Map super @Object {
    field $table object
  }
  class-dump @Identity super @Object {
    field $table object
  }
  class-dump @Entry super @Object {
    field $hash int
    field $key object
    field $value object
    field $next object
  }
  class-dump @Node super @Object {
    field $next object
    field $value int
  }
  class-dump @Main super @Object {
    static $list object @list
    static $map object @map
    static $identity object @identity
    static $head object @n1
    static $number int <NUMBER>
  }
  instance-dump @thread class @Thread [ object @main long <EETOP> ]
  instance-dump @main class @String [ object @main.b ]
  primitive-array-dump @main.b type byte [ <THREAD> ]
  instance-dump @one class @String [ object @one.b ]
  primitive-array-dump @one.b type byte [ 111 110 101 ]
  instance-dump @two class @String [ object @two.b ]
  primitive-array-dump @two.b type byte [ <TWO> ]
  instance-dump @new class @String [ object @new.b ]
  primitive-array-dump @new.b type byte [ 110 101 119 ]
  instance-dump @list class @List [ object @elements int <SIZE> ]
  object-array-dump @elements class @Objects [ <ELEMENTS> ]
  instance-dump @map class @Map [ object @table ]
  object-array-dump @table class @Entries [ <TABLE> ]
  instance-dump @identity class @Identity [ object @pairs ]
  object-array-dump @pairs class @Objects [ <PAIRS> ]
  instance-dump @e1 class @Entry [ int <HASH> object @one object @n1 object <NEXT> ]
  instance-dump @e2 class @Entry [ int 2 object @two object <MAPPED> object null ]
  instance-dump @n1 class @Node [ object @n2 int 1 ]
  instance-dump @n2 class @Node [ object @n3 int 2 ]
  instance-dump @n3 class @Node [ object @n4 int 3 ]
  instance-dump @n4 class @Node [ object @n5 int 4 ]
  instance-dump @n5 class @Node [ object @n6 int 5 ]
  instance-dump @n6 class @Node [ object null int <LAST> ]
  instance-dump @local class @List [ object @inner int 1 ]
  object-array-dump @inner class @Objects [ <INNER> ]
  root-thread-object @thread thread 1 trace 1
  root-java-frame @local thread 1 frame 0
  root-sticky-class @Main
  root-jni-global @new reference 0x1000
  <ROOT>
}
end
"""
PLAIN = {
    "NUMBER": "5",
    "EETOP": "1",
    "THREAD": "109 97 105 110",
    "TWO": "116 119 111",
    "SIZE": "2",
    "ELEMENTS": "@one @two null null",
    "TABLE": "@e1 null @e2 null",
    "PAIRS": "@one @n1 null null @two @n2",
    "HASH": "1",
    "NEXT": "null",
    "MAPPED": "@n2",
    "LAST": "6",
    "INNER": "@one",
    "ROOT": "root-jni-global @one reference 0x1000",
}


def heap(**values: str) -> bytes:
    text = TEXT
    for name, value in (PLAIN | values).items():
        text = text.replace(f"<{name}>", value)
    data = assemble(text).file.to_bytes()
    checked = subprocess.run([VALIDATOR, "--profile=strict", "-"], input=data, capture_output=True, check=False)
    assert checked.returncode == 0, checked.stdout
    return data


def other(folder: Path, **values: str) -> tuple[Path, Path]:
    """A, and B with other values, other IDs and in another order."""
    seed = random.randrange(1 << 32)
    print("seed", seed)
    (folder / "a").write_bytes(heap())
    (folder / "b").write_bytes(renumber(heap(**values), random.Random(seed), random.Random(seed).choice([4, 8]), True))
    return folder / "a", folder / "b"


FRAME = 'JAVA_FRAME of thread "main", frame 0 (java.util.ArrayList)'
LIST, OBJECTS, STRING, ENTRY = "java.util.ArrayList", "java.lang.Object[]", "java.lang.String", "java.util.HashMap$Node"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"NUMBER": "-6"}, [("Main", "java.lang.Class", [("number", "5", "-6")])]),
        ({"LAST": "7"}, [("Main.head.next (5 times)", "Node", [("value", "6", "7")])]),
        ({"TWO": "116 119 120"}, [("Main.identity.table[4].value", "byte[]", [("text", "two", "twx")])]),
        (
            {"ELEMENTS": "@one @new @two null", "SIZE": "3"},
            [
                ("Main.list", LIST, [("size", "2", "3")]),
                ("Main.list.elementData", OBJECTS, [("[1]", "null", f'{STRING} "new"')]),
            ],
        ),
        (
            {"ELEMENTS": "@two null null null", "SIZE": "1"},
            [
                ("Main.list", LIST, [("size", "2", "1")]),
                ("Main.list.elementData", OBJECTS, [("[0]", f'{STRING} "one"', "null")]),
            ],
        ),
        ({"MAPPED": "null"}, [("Main.map.table[2]", ENTRY, [("value", "Node", "null")])]),
        ({"MAPPED": "@two"}, [("Main.map.table[2]", ENTRY, [("value", "Node", f'{STRING} "two"')])]),
        ({"INNER": "@e1"}, [(f"{FRAME}.elementData", OBJECTS, [("[0]", f'{STRING} "one"', ENTRY)])]),
    ],
)
def test_one_difference_is_named(values: dict[str, str], expected: Any, tmp_path: Path) -> None:
    a, b = other(tmp_path, **values)
    found = report(a, b)
    assert shown(found) == expected
    assert (found["difference_count"], found["roots"]) == (len(expected), [])
    text = diff(a, b).stdout
    for path, of_class, parts in expected:
        assert f"  {path}: {of_class}\n" in text
        assert all(f"    {what}: " in text for what, _, _ in parts)
    assert text.endswith("\nThe dumps differ.\n")


def test_names_beyond_ascii_are_compared(tmp_path: Path) -> None:
    """Names that differ by a letter beyond ASCII were the same."""
    for file, letter in (("a", b"\xc3\xa4"), ("b", b"\xc3\xb6")):
        (tmp_path / file).write_bytes(heap().replace(b"Node", b"N" + letter + b"e"))
    found = report(tmp_path / "a", tmp_path / "b", "--by=content")
    assert {"N\u00e4e", "N\u00f6e"} <= {one["name"] for one in found["classes"]}
    assert "  N\u00e4e" in diff(tmp_path / "a", tmp_path / "b", "--by=content").stdout


TWO_LOADERS = """hprof "JAVA PROFILE 1.0.2" id-size 8 time 2026-01-01T00:00:00Z
utf8 $Object "java/lang/Object"
utf8 $Shop "ShopLoader"
utf8 $Bank "BankLoader"
utf8 $Point "Point"
load-class serial 1 class @Object name $Object
load-class serial 2 class @Shop name $Shop
load-class serial 3 class @Bank name $Bank
load-class serial 4 class @A name $Point
load-class serial 5 class @B name $Point
segment {
  class-dump @Object super null
  class-dump @Shop super @Object
  class-dump @Bank super @Object
  class-dump @A super @Object loader @shop
  class-dump @B super @Object loader @bank
  instance-dump @shop class @Shop
  instance-dump @bank class @Bank
  instance-dump @one class <ONE>
  instance-dump @two class <TWO>
  instance-dump @three class <THREE>
  root-jni-global @one reference 0x1000
  root-jni-global @two reference 0x1008
  root-jni-global @three reference 0x1010
}
end
"""


def test_classes_of_one_name_differ_by_their_loaders(tmp_path: Path) -> None:
    def written(name: str, *classes: str) -> Path:
        text = TWO_LOADERS
        for slot, of_class in zip(("<ONE>", "<TWO>", "<THREE>"), classes, strict=True):
            text = text.replace(slot, of_class)
        seed = random.randrange(1 << 32)
        print("seed", seed)
        data = assemble(text).file.to_bytes()
        (tmp_path / name).write_bytes(renumber(data, random.Random(seed), 8, True))
        return tmp_path / name

    a = written("a", "@A", "@A", "@B")
    assert not report(a, written("same", "@A", "@B", "@A"), "--by=content")["different"]  # which object has it is no difference
    found = report(a, written("other", "@B", "@A", "@B"), "--by=content")
    assert found["different"]
    assert found["kinds"]["instances"]["only_in_a"] == found["kinds"]["instances"]["only_in_b"] == 1
    assert sorted((one["only_in_a"], one["only_in_b"]) for one in found["classes"] if one["name"] == "Point") == [(0, 1), (1, 0)]


def test_another_root_is_named(tmp_path: Path) -> None:
    a, b = other(tmp_path, ROOT="root-jni-global @one reference 0x1000\n  root-monitor-used @n3")
    found = report(a, b)
    assert [(one["only_in"], one["root"], one["object"].split()[0]) for one in found["roots"]] == [("b", "MONITOR_USED", "Node")]
    assert (found["kinds"]["roots"]["only_in_a"], found["kinds"]["roots"]["only_in_b"]) == (0, 1)
    assert found["differences"] == []
    text = diff(a, b).stdout
    assert "  only in B: MONITOR_USED: Node 0x" in text
    assert "None of what differs is on a way" in text


def test_roots_are_paired_by_the_name_of_their_thread(tmp_path: Path) -> None:
    a, b = other(tmp_path, THREAD="109 97 105 111")
    found = report(a, b)
    assert {one["root"] for one in found["roots"]} == {
        'thread "main"',
        'thread "maio"',
        'JAVA_FRAME of thread "main", frame 0',
        'JAVA_FRAME of thread "maio", frame 0',
    }


def test_a_native_address_is_no_difference(tmp_path: Path) -> None:
    assert not report(*other(tmp_path, EETOP="77"))["different"]


@pytest.mark.parametrize("rounds", range(6))
def test_a_round_is_a_step(rounds: int, tmp_path: Path) -> None:
    """The last node of a list differs, and as many before it as there are rounds."""
    a, b = other(tmp_path, LAST="7")
    found = report(a, b, f"--rounds={rounds}")
    assert [(one["name"], one["only_in_a"], one["only_in_b"]) for one in found["classes"] if one["name"] == "Node"] == [
        ("Node", rounds + 1, rounds + 1)
    ]
    assert f"with {rounds} round{'' if rounds == 1 else 's'}, as asked for" in diff(f"--rounds={rounds}", a, b).stdout


# ---- What is ignored -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ignored", "values"),
    [
        ("payload", {"NUMBER": "9", "LAST": "100", "TWO": "1 2 3"}),
        ("identity-hash", {"HASH": "77"}),
        ("order-of-maps", {"TABLE": "null @e2 @e1 null"}),
        ("order-of-maps", {"TABLE": "@e1 null null null", "NEXT": "@e2"}),
        ("order-of-maps", {"PAIRS": "@two @n2 @one @n1 null null"}),
        ("identity-hash,order-of-maps", {"HASH": "3", "TABLE": "null null null @e1", "NEXT": "@e2"}),
    ],
)
def test_what_is_ignored_is_no_difference(ignored: str, values: dict[str, str], tmp_path: Path) -> None:
    a, b = other(tmp_path, **values)
    assert report(a, b)["different"]
    found = report(a, b, f"--ignore={ignored}")
    assert (found["different"], sorted(found["ignored"])) == (False, sorted(ignored.split(",")))
    done = diff(f"--ignore={ignored}", a, b)
    assert "Ignored: " in done.stdout
    assert done.stdout.splitlines()[-1] == NOTHING


@pytest.mark.parametrize(
    ("ignored", "values", "expected"),
    [
        ("payload", {"MAPPED": "null"}, [("Main.map.table[2]", ENTRY, [("value", "Node", "null")])]),
        ("payload", {"TWO": "1 2"}, [("Main.identity.table[4].value", "byte[]", [("number of elements", "3", "2")])]),
        ("identity-hash", {"LAST": "7", "HASH": "2"}, [("Main.head.next (5 times)", "Node", [("value", "6", "7")])]),
        (
            "order-of-maps",
            {"TABLE": "null @e2 @e1 null", "MAPPED": "null"},
            [("Main.map.table{entry}", ENTRY, [("value", "Node", "null")])],
        ),
        (
            "order-of-maps",
            {"PAIRS": "@two @n3 @one @n1 null null"},
            [("Main.identity.table", OBJECTS, [("{entry}", "Node", "Node")])],
        ),
        ("order-of-maps", {"TABLE": "null null @e1 null"}, [("Main.map.table", f"{ENTRY}[]", [("{entry}", ENTRY, "null")])]),
    ],
)
def test_the_rest_is_still_compared(ignored: str, values: dict[str, str], expected: Any, tmp_path: Path) -> None:
    found = report(*other(tmp_path, **values), f"--ignore={ignored}")
    assert found["different"]
    assert shown(found) == expected


def test_a_key_without_a_value_is_an_entry(tmp_path: Path) -> None:
    a, b = other(tmp_path, PAIRS="@one @n1 null null @two null")
    a.write_bytes(heap(PAIRS="@one @n1 null null null null"))
    arrays = report(a, b, "--ignore=order-of-maps")["kinds"]["object_arrays"]
    assert (arrays["only_in_a"], arrays["only_in_b"]) == (1, 1)


# ---- Real dumps ------------------------------------------------------------------------------------------------------


def test_two_versions_of_hotspot_agree_in_what_the_program_made(tmp_path: Path) -> None:
    """The same program, conformance/producers/java/Everything.java, on 17 and 25. Java itself differs much."""
    for name in ("jdk17", "jdk25"):
        (tmp_path / name).write_bytes(gold.read(SOURCE, name))
    options = ("--max-differences=10000",)
    found = report(tmp_path / "jdk17", tmp_path / "jdk25", *options)
    differing = {one["name"]: one for one in found["classes"]}
    for fact in gold.facts_of(SOURCE, "jdk17"):
        kind, *words = fact.split("\t")
        if kind == "class" and words[0] in ("Everything$Node", "Everything$Base", "Everything$Derived", "Modern$Point"):
            assert words[0] not in differing, words
    assert found["kinds"]["instances"]["same"] > 1000  # the nodes alone are a thousand
    colors = [one for one in found["differences"] if one["path"].startswith("Everything$Color.")]
    assert {one["path"] for one in colors} == {f"Everything$Color.{name}" for name in ("RED", "GREEN", "BLUE")}
    for one in colors:  # java.lang.Enum has a field more
        assert one["parts"] == [{"what": "hash", "a": "absent", "b": "0"}]
    fewer = report(tmp_path / "jdk17", tmp_path / "jdk25", *options, "--ignore=identity-hash,order-of-maps")
    assert fewer["difference_count"] < found["difference_count"]
    assert not [one for one in fewer["differences"] if one["path"].startswith("Everything$Color.")]


def test_a_planted_value_is_found_in_a_real_dump(tmp_path: Path) -> None:
    """A letter of a string that the program made."""
    seed = random.randrange(1 << 32)
    data = gold.read(SOURCE, "jdk17")
    (tmp_path / "a").write_bytes(data)
    marker = "conformance café".encode("latin-1")
    at = data.index(marker)
    assert data.find(marker, at + 1) < 0
    (tmp_path / "b").write_bytes(renumber(data[:at] + b"C" + data[at + 1 :], random.Random(seed), shuffle=True))
    found = report(tmp_path / "a", tmp_path / "b")
    (one,) = shown(found)
    assert one[1:] == ("byte[]", [("text", "conformance café", "Conformance café")]), seed
    assert ".elementData[" in one[0], seed  # of the list in which the program keeps what must not be collected
    assert one[0].endswith("].value"), seed


# ---- Which way -------------------------------------------------------------------------------------------------------


def test_the_way_is_chosen_and_said(tmp_path: Path) -> None:
    data = dump("--like=hotspot", objects=3000)
    dice = random.Random(1)
    (tmp_path / "a").write_bytes(data)
    (tmp_path / "ids").write_bytes(renumber(data, dice))
    (tmp_path / "four").write_bytes(renumber(data, dice, 4))
    same, ids, four = (diff(tmp_path / "a", tmp_path / name).stdout for name in ("a", "ids", "four"))
    assert "\nCompared by ID, as 100.0 % of the objects and 100.0 % of the strings of" in same
    assert "\nCompared by content, with 4 rounds, as 0.0 % of the objects and 0.0 % of the strings of" in ids
    assert "\nCompared by content, with 4 rounds, as the IDs of the two dumps have different sizes.\n" in four
    assert "\nCompared by content, with 4 rounds, as asked for.\n" in diff("--by=content", tmp_path / "a", tmp_path / "a").stdout
    assert "\nCompared by ID, as asked for.\n" in diff("--by=id", tmp_path / "a", tmp_path / "ids").stdout
    found = json.loads(diff("--format=json", tmp_path / "a", tmp_path / "a").stdout)
    assert (found["by"], found["shared_per_thousand"]) == ("id", {"objects": 1000, "strings": 1000})
    assert report(tmp_path / "a", tmp_path / "ids")["shared_per_thousand"] == {"objects": 0, "strings": 0}
    assert report(tmp_path / "a", tmp_path / "four")["shared_per_thousand"] is None


def test_two_runs_with_the_same_addresses_are_compared_by_content(tmp_path: Path) -> None:
    """HotSpot often has objects at the same addresses in the next run, but not the names of classes."""
    text = """hprof "JAVA PROFILE 1.0.2" id-size 8 time 2026-01-01T00:00:00Z
utf8 <NAME> "java/lang/Object"
load-class serial 1 class 0x8000 name <NAME>
segment {
  class-dump 0x8000 super null
  instance-dump 0x8010 class 0x8000 [ ]
  root-unknown 0x8010
}
end
"""
    for name, string_id in (("a", "0x7000"), ("b", "0x7100")):
        (tmp_path / name).write_bytes(assemble(text.replace("<NAME>", string_id)).file.to_bytes())
    assert report(tmp_path / "a", tmp_path / "b")["shared_per_thousand"] == {"objects": 1000, "strings": 0}
    assert json.loads(diff("--format=json", tmp_path / "a", tmp_path / "a").stdout)["by"] == "id"


def test_one_of_several_heap_dumps(tmp_path: Path) -> None:
    start = """hprof "JAVA PROFILE 1.0.1" id-size 8 time 2026-01-01T00:00:00Z
utf8 $Object "java/lang/Object"
load-class serial 1 class @Object name $Object
"""
    one = "heap-dump {{\n  class-dump @Object super null\n  primitive-array-dump @a type int [ {} ]\n  root-unknown @a\n}}\n"
    (tmp_path / "both").write_bytes(assemble(start + one.format("1 2") + one.format("1 2 3")).file.to_bytes())
    (tmp_path / "second").write_bytes(assemble(start + one.format("1 2 3")).file.to_bytes())
    both, second = tmp_path / "both", tmp_path / "second"
    assert report(both, second, "--by=content")["different"]
    assert not report(both, second, "--heap-dumps=2,1")["different"]
    assert report(both, both, "--heap-dumps=1,2")["different"]
    assert not report(both, both, "--heap-dumps=2")["different"]
    assert "heap dump 2 of 2" in diff("--heap-dumps=2,1", both, second).stdout
    done = diff("--heap-dumps=1,2", both, second)
    assert (done.returncode, "it has no heap dump 2" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    "args",
    [
        ["--by=name"],
        ["--rounds=-1"],
        ["--rounds=1001"],
        ["--ignore="],
        ["--ignore=payload,"],
        ["--ignore=order"],
        ["--heap-dumps=0"],
        ["--heap-dumps=1,"],
        ["--heap-dumps=1,2,3"],
        ["--by=id", "--rounds=2"],
        ["--by=id", "--ignore=payload"],
        ["--assert-redacted", "--heap-dumps=1"],
        ["--assert-redacted", "--by=id"],
    ],
)
def test_wrong_usage(args: list[str], tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(heap())
    done = diff(*args, tmp_path / "a", tmp_path / "a")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("hprof-diff: ")


# ---- Damage and malice -----------------------------------------------------------------------------------------------


def test_of_damage_nothing_is_claimed(tmp_path: Path) -> None:
    whole = dump("--like=hotspot", objects=2000)
    at = len(whole) * 2 // 3
    (tmp_path / "a").write_bytes(whole[:at] + bytes(3000) + whole[at + 3000 :])
    done = diff("--by=content", tmp_path / "a", tmp_path / "a")
    assert done.returncode == 2
    assert "bytes of damage, which were not compared" in done.stdout
    assert done.stdout.endswith("\nNo difference found with 4 rounds in what can be compared.\n")


def test_the_corpus_is_like_itself() -> None:
    compared = 0
    for file in some(random.Random().sample(sorted((SOURCE / "corpus").rglob("*.hprof")), 80)):
        done = diff("--by=content", "--ignore=order-of-maps", file, file)
        assert done.returncode in (0, 2), file
        compared += done.returncode == 0
    assert compared > 20 or SHARE > 1


def test_any_two_files_of_the_corpus_end_well() -> None:
    files = sorted((SOURCE / "corpus").rglob("*.hprof"))
    seed = random.randrange(1 << 32)
    dice = random.Random(seed)
    for _ in some(range(60)):
        done = diff("--by=content", "--format=json", "--max-differences=10000", *dice.sample(files, 2))
        assert done.returncode in (0, 1, 2), (seed, done)
        if done.stdout:
            SCHEMA.validate(shortened(json.loads(done.stdout)))


def linked(lines: list[str], classes: str = "") -> bytes:
    text = """hprof "JAVA PROFILE 1.0.2" id-size 8 time 2026-01-01T00:00:00Z
utf8 $Object "java/lang/Object"
utf8 $Entry "java/util/HashMap$Node"
utf8 $Entries "[Ljava/util/HashMap$Node;"
utf8 $next "next"
load-class serial 1 class @Object name $Object
load-class serial 2 class @Entry name $Entry
load-class serial 3 class @Entries name $Entries
"""
    heap = "segment {\n  class-dump @Object super null\n  class-dump @Entries super @Object\n"
    heap += "  class-dump @Entry super @Object {\n    field $next object\n  }\n"
    return assemble(text + classes + heap + "\n".join(lines) + "\n}\nend\n").file.to_bytes()


def test_chains_that_all_elements_share_take_no_longer(tmp_path: Path) -> None:
    """Each element of the table leads to the same chain, which is a circle at its end."""
    count = 20000
    lines = [f"  instance-dump @e{i} class @Entry [ object @e{min(i + 1, count - 1)} ]" for i in range(count)]
    lines.append(f"  object-array-dump @table class @Entries [ {' '.join(f'@e{i}' for i in range(count))} ]")
    lines.append("  root-unknown @table")
    (tmp_path / "a").write_bytes(linked(lines))
    assert diff("--ignore=order-of-maps", tmp_path / "a", tmp_path / "a").returncode == 0


def test_classes_that_are_their_own_superclasses(tmp_path: Path) -> None:
    lines = [
        "  class-dump @c0 super @c1 {\n    field $next object\n  }",
        "  class-dump @c1 super @c0",
        "  class-dump @c2 super @c2",
    ]
    lines += [f"  instance-dump @o{i} class @c{i} [ object null ]" for i in range(3)] + ["  root-unknown @o0"]
    classes = "".join(f"load-class serial {10 + i} class @c{i} name $next\n" for i in range(3))
    (tmp_path / "a").write_bytes(linked(lines, classes))
    assert diff("--by=content", tmp_path / "a", tmp_path / "a").returncode in (0, 2)


def test_a_long_chain_of_classes_takes_no_longer(tmp_path: Path) -> None:
    count = 5000
    lines = ["  class-dump @c0 super @Object"]
    lines += [f"  class-dump @c{i} super @c{i - 1}" for i in range(1, count)]
    lines += [f"  instance-dump @o{i} class @c{i} [ ]" for i in range(count)] + ["  root-unknown @o0"]
    classes = "".join(f"load-class serial {10 + i} class @c{i} name $next\n" for i in range(count))
    (tmp_path / "a").write_bytes(linked(lines, classes))
    assert diff("--by=content", tmp_path / "a", tmp_path / "a").returncode == 0


def many_classes(order: list[int], values: dict[int, int]) -> bytes:
    """A class for each number, in this order, and an instance of each, with its number or another value in a field."""

    def record(tag: int, body: bytes) -> bytes:
        return struct.pack(">BII", tag, 0, len(body)) + body

    data = b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 8, 0)
    data += b"".join(record(1, struct.pack(">Q", 1 + i) + b"C%d" % i) for i in order)
    data += record(1, struct.pack(">Q", 1 << 30) + b"value")
    data += b"".join(record(2, struct.pack(">IQIQ", 1 + i, 1 << 32 | i << 3, 0, 1 + i)) for i in order)
    heap = b"".join(
        struct.pack(">BQI6QIHHHQB", 0x20, 1 << 32 | i << 3, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 1, 1 << 30, 10)
        + struct.pack(">BQIQII", 0x21, 2 << 32 | i << 3, 0, 1 << 32 | i << 3, 4, values.get(i, i))
        for i in order
    )
    return data + record(0x1C, heap) + record(0x2C, b"")


def test_more_classes_than_16_bits_count(tmp_path: Path) -> None:
    numbers = list(range(40000))  # each with a shape of its own and one of its instances
    changed = random.sample(numbers, 3)
    (tmp_path / "a").write_bytes(many_classes(numbers, {}))
    (tmp_path / "b").write_bytes(many_classes(numbers[::-1], {i: i + 1 for i in changed}))
    found = report(tmp_path / "a", tmp_path / "b", "--by=content")
    assert {(one["name"], one["only_in_a"], one["only_in_b"]) for one in found["classes"]} == {(f"C{i}", 1, 1) for i in changed}
    instances = found["kinds"]["instances"]
    assert (instances["same"], instances["only_in_a"], instances["only_in_b"]) == (len(numbers) - 3, 3, 3)
