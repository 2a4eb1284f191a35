"""One failing call of a reader fails its answer, not the file, in each adapter that asks for one entry after another. What an error
of each kind counts as: by the adapter of NetBeans for those in Java, and of jvm-hprof for those in Rust."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from built import ROOT
from some_cases import any_one

from hprof_conformance import cases, gold, readers
from hprof_conformance.jvms import NotBuiltError, NotHereError
from hprof_conformance.protocol import Reply
from hprof_conformance.session import Session
from hprof_corpus.truth import ROOTS

DUMP = "jdk17"  # of the gold dumps: with items of each kind, and roots of a kind that each reader gives
NAMES = {  # by entry: where its items are made
    "classes": 'new Item("class")',
    "loaders": 'new Item("loader")',
    "statics": 'new Item("static")',
    "instances": 'new Item("instance")',
    "object_arrays": 'new Item("object array")',
    "primitive_arrays": 'new Item("primitive array")',
    "roots": "idOf(((GCRoot) one).getInstance())",
}
LISTS = {  # calls that give all of an entry, or a count alone
    "list of statics": "(List<FieldValue>) (List<?>) one.getStaticFieldValues()",
    "list of roots": "heap.getGCRoots()",
    "number of objects": "heap.getSummary().getTotalLiveInstances()",
}
ITEMS = {entry: given for entry, given in NAMES.items() if entry != "roots"}
BYTES = {"instance_bytes": 'new Item("instance bytes")'}


@dataclass(frozen=True)
class Walker:
    """What asks a reader in Java."""

    reader: str  # which has it
    head: str  # of its class
    calls: dict[str, str]  # by entry: a call of the reader, or where an item is made
    loses: bool = False  # the count of an entry, too: it counts as it asks for items


HEAP_WALKER = Walker("netbeans", "abstract class HeapWalker implements Adapter {", NAMES)
OF_MAVEN = [
    Walker("shark-graph", "final class SharkGraph implements Adapter {", ITEMS | BYTES | {"roots": "root.getId() & mask"}),
    Walker(
        "shark-stream",
        "final class SharkStream implements Adapter {",
        {name: given for name, given in ITEMS.items() if name != "instances"}
        | {**BYTES, "strings": 'new Item("string")', "roots": "one.getId() & mask"},
    ),
    Walker(
        "haha-perflib",
        "final class HahaPerflib implements Adapter {",
        ITEMS | {"roots": "idOf(parsed.findInstance(one.getId()))"},
    ),
    Walker(
        "haha-mat",
        "abstract class MatWalker implements Adapter {",
        ITEMS | {"roots": "Item.root(kind, one.getObjectAddress())"},
        loses=True,
    ),
]
OF_JDK_8 = Walker(
    "jhat", "abstract class HatWalker implements Adapter {", ITEMS | {"roots": "idOf(snapshot.findThing(one.getId()))"}
)
BUILD = os.environ.get("HPROF_REPAIRED", "")
in_full = pytest.mark.skipif(not BUILD, reason="HPROF_REPAIRED names no folder: ci/full builds readers")
FAILS = """
    /** What a call of the reader gives, or the error that a property names for this entry. */
    @SuppressWarnings("unchecked")
    private static <T, E extends Throwable> T call(String entry, T given) throws E {
        if (!entry.equals(System.getProperty("entry"))) {
            return given;
        }
        try {
            throw (E) Class.forName(System.getProperty("error")).getDeclaredConstructor(String.class).newInstance("as planned");
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalArgumentException(impossible);
        }
    }
"""
IN_RUST = {  # by reader and entry: what begins its items, and with which word
    "jvm-hprof": {
        "strings": ("Item::new", "string"),
        "classes": ("Item::new", "class"),
        "loaders": ("Item::new", "loader"),
        "statics": ("Item::new", "static"),
        "instances": ("identified", "instance"),
        "instance_bytes": ("identified", "instance bytes"),
        "object_arrays": ("Item::new", "object array"),
        "primitive_arrays": ("Item::new", "primitive array"),
        "roots": ("Item::new", "root"),
    },
    "hprof-analyzer": {
        "strings": ("Item::new", "string"),
        "classes": ("Item::new", "class"),
        "loaders": ("Item::new", "loader"),
        "instances": ("Item::new", "instance"),
        "object_arrays": ("Item::new", "object array"),
        "primitive_arrays": ("Item::new", "primitive array"),
    },
}
MAIN = "fn main() {"
FAILS_IN_RUST = """
/// What a call of the reader gives, or the error that the environment names for this entry.
fn call<T>(entry: &str, given: T) -> Result<T, String> {
    if std::env::var("ENTRY").as_deref() != Ok(entry) {
        return Ok(given);
    }
    match std::env::var("ERROR").as_deref() {
        Ok("panic") => panic!("as planned"),
        _ => Err("as planned".to_string()),
    }
}

"""
Ask = Callable[..., Reply]


def started(name: str, planted: dict[str, str], build: Path) -> list[str]:
    """What starts the adapter with these changes of its text. That it cannot be built is no reason to skip."""
    (reader,) = (one for one in readers.read_readers(ROOT) if one.name == name)
    try:
        return readers.command(ROOT, replace(reader, replace=reader.replace | planted), build)
    except NotHereError as error:
        if isinstance(error, NotBuiltError):
            raise
        pytest.skip(str(error))


def built_in(name: str) -> Path:
    """Kept until the adapter or what is planted in it changes; beside what test_planted.py builds, which shares the crates."""
    folder = Path(BUILD).resolve() if BUILD else cases.work_folder(ROOT)
    return folder / "planted" / f"failing-{name}"


def asking(walker: Walker, calls: dict[str, str], folder: Path, kind: str = "") -> Ask:
    """Reads a dump by an adapter of which one call fails. `kind`: where other calls of the same adapter fail."""
    planted = {given: f'call("{entry}", {given})' for entry, given in calls.items()}
    planted |= {walker.head: walker.head + FAILS}
    java, *command = started(walker.reader, planted, built_in(walker.reader + kind))
    dump = folder / "dump.hprof"
    dump.write_bytes(gold.read(ROOT, DUMP))

    def reply(entry: str = "", error: str = "") -> Reply:
        session = Session([java, f"-Dentry={entry}", f"-Derror={error}", *command], folder / "own")
        try:
            return session.ask("dump", dump)
        finally:
            session.stop()

    return reply


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return asking(HEAP_WALKER, NAMES | LISTS, tmp_path_factory.mktemp("failing"))


@pytest.mark.parametrize(
    "walker", [*any_one(OF_MAVEN), pytest.param(OF_JDK_8, marks=in_full)], ids=lambda walker: str(walker.reader)
)
def test_a_failing_call_fails_its_entry_alone_in_each_adapter(walker: Walker, tmp_path: Path) -> None:
    ask = asking(walker, walker.calls, tmp_path)
    whole = ask()
    assert whole.outcome == "accepted" and set(whole.digests) == set(walker.calls) and not whole.failed
    assert all(one.count for one in whole.digests.values()), whole.digests
    for entry in walker.calls:
        found = ask(entry, "java.lang.IllegalStateException")
        assert (found.outcome, [*found.failed]) == ("accepted", [entry])
        assert found.failed[entry].startswith("java.lang.IllegalStateException: as planned")
        assert found.digests == {name: one for name, one in whole.digests.items() if name != entry}
        assert found.counts == {name: one for name, one in whole.counts.items() if name != entry or not walker.loses}


def test_a_class_that_gives_no_name_fails_all_entries_that_its_objects_may_be_of(tmp_path: Path) -> None:
    (walker,) = (one for one in OF_MAVEN if one.reader == "haha-mat")
    ask = asking(walker, {"name": "entry(one)"}, tmp_path, "-names")
    whole, found = ask(), ask("name", "java.lang.IllegalStateException")
    objects = {"instances", "object_arrays", "primitive_arrays"}
    assert (found.outcome, {*found.failed}) == ("accepted", objects)
    assert found.digests == {name: one for name, one in whole.digests.items() if name not in objects}


def test_a_failing_call_fails_its_answer_and_no_other(ask: Ask) -> None:
    whole = ask()
    assert whole.outcome == "accepted" and set(whole.digests) == set(NAMES) and not whole.failed
    assert all(one.count for one in whole.digests.values())
    for entry in NAMES:
        found = ask(entry, "java.lang.IllegalStateException")
        assert (found.outcome, [*found.failed]) == ("accepted", [entry])
        assert found.failed[entry].startswith("java.lang.IllegalStateException: as planned")
        assert found.digests == {name: one for name, one in whole.digests.items() if name != entry}
        assert found.counts == whole.counts


@pytest.mark.parametrize(
    ("call", "failed", "counts"),
    [
        ("list of statics", "statics", set()),
        ("list of roots", "roots", {"roots", *ROOTS}),
        ("number of objects", "objects", {"objects"}),
    ],
)
def test_a_list_that_fails_fails_its_entry_and_its_counts(call: str, failed: str, counts: set[str], ask: Ask) -> None:
    whole, found = ask(), ask(call, "java.lang.IllegalStateException")
    assert (found.outcome, [*found.failed]) == ("accepted", [failed])
    assert found.digests == {name: one for name, one in whole.digests.items() if name != failed}
    assert found.counts == {name: one for name, one in whole.counts.items() if name not in counts}
    assert (found.counts == whole.counts) == (not counts)


@pytest.mark.parametrize(
    "error", ["InternalError", "StackOverflowError", "NoClassDefFoundError", "IndexOutOfBoundsException", "ClassCastException"]
)
def test_an_error_that_no_reader_throws_on_purpose_is_a_crash_of_one_answer(error: str, ask: Ask) -> None:
    found = ask("instances", f"java.lang.{error}")
    assert (found.outcome, [*found.failed]) == ("crashed", ["instances"])
    assert found.message.startswith(f"instances: java.lang.{error}: as planned")
    assert set(found.digests) == set(NAMES) - {"instances"}


def test_too_little_memory_ends_the_dump(ask: Ask) -> None:
    found = ask("instances", "java.lang.OutOfMemoryError")
    assert (found.outcome, found.digests) == ("out of memory", {})


@pytest.mark.parametrize("reader", ["jvm-hprof", pytest.param("hprof-analyzer", marks=in_full)])
def test_a_failing_call_of_a_crate_fails_its_answer_and_no_other(
    reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = IN_RUST[reader]
    planted = {f'{made}("{word}"': f'{made}(call("{entry}", "{word}")?' for entry, (made, word) in calls.items()}
    rust = started(reader, planted | {MAIN: FAILS_IN_RUST + MAIN}, built_in(reader))
    dump = tmp_path / "dump.hprof"
    dump.write_bytes(gold.read(ROOT, DUMP))

    def ask(entry: str, error: str) -> Reply:
        monkeypatch.setenv("ENTRY", entry)
        monkeypatch.setenv("ERROR", error)
        session = Session(rust, tmp_path / "own")
        try:
            return session.ask("dump", dump)
        finally:
            session.stop()

    whole = ask("", "")
    assert whole.outcome == "accepted" and set(whole.digests) == set(calls) and not whole.failed, whole.message
    assert all(one.count for one in whole.digests.values())
    for entry in calls:
        for error, outcome in (("error", "accepted"), ("panic", "crashed")):
            found = ask(entry, error)
            assert (found.outcome, [*found.failed]) == (outcome, [entry])
            assert "as planned" in found.failed[entry]
            assert bool(found.message) == (outcome == "crashed")
            assert found.digests == {name: one for name, one in whole.digests.items() if name != entry}
            assert found.counts == whole.counts
