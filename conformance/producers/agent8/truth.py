"""What Truth.java leaves in a dump, and whether two dumps of it say the same."""

from __future__ import annotations

from facts import Facts, Frame, Site

POINTS, NODES, INTS, INTS_LENGTH, ROWS, DROPPED = 1000, 500, 300, 7, 40, 2000

# Of the classes that have instances at the end of the program. Dropped instances live until a collection.
INSTANCES = {"Truth$Point": POINTS, "Truth$Node": NODES, "Truth$Gate": 1, "Truth$Contender": 3, "Truth$Waiter": 1}
FIELDS = {("Truth$Point", "next"): POINTS - 1, ("Truth$Node", "left"): NODES // 2, ("Truth$Node", "right"): (NODES - 1) // 2}
STATICS = {
    ("Truth", "GATE"): "Truth$Gate",
    ("Truth", "points"): "Truth$Point",
    ("Truth", "nodes"): "Truth$Node",
    ("Truth", "rows"): "Truth$Node[][]",
    ("Truth", "ints"): "int[][]",
}
SUPERS = {
    "Truth": "java.lang.Object",
    "Truth$Base": "java.lang.Object",
    "Truth$Point": "Truth$Base",
    "Truth$Node": "java.lang.Object",
    "Truth$Gate": "java.lang.Object",
    "Truth$Dropped": "java.lang.Object",
    "Truth$Contender": "java.lang.Thread",
    "Truth$Waiter": "java.lang.Thread",
}
ALLOCATED = {
    "Truth$Point": ("Truth.allocatePoints", POINTS),
    "Truth$Node": ("Truth.allocateNodes", NODES),
    "Truth$Dropped": ("Truth.drop", DROPPED),
    "int[]": ("Truth.allocateArrays", INTS),
}
THREADS = ["main", "truth-contender-0", "truth-contender-1", "truth-contender-2", "truth-waiter"]
HOT = "Truth.spin"

# Of the processor time that Shares.java takes, in percent.
SHARES = {"Shares.most": 60.0, "Shares.some": 30.0, "Shares.few": 10.0}
SHARE_ERROR = 15.0  # percentage points: samples are taken by the clock, and other work stops the program in the middle of a method
TOTAL_RATIO = 3  # of two runs: a busy machine takes more samples of the same work


class MismatchError(Exception):
    """A dump does not say what is true."""


def same(what: str, expected: object, found: object) -> None:
    if expected != found:
        raise MismatchError(f"{what}: expected {expected}, found {found}")


def _ours(names: object) -> dict[object, object]:
    """Those that concern the classes of Truth.java."""
    assert isinstance(names, dict)
    return {key: value for key, value in names.items() if str(key[0] if isinstance(key, tuple) else key).startswith("Truth")}


def allocated(facts: Facts, type_: str, method: str) -> int:
    return sum(site.allocated for site in facts.sites if site.type == type_ and method in _methods(site.frames))


def _methods(frames: tuple[Frame, ...]) -> list[str]:
    return [frame.method for frame in frames]


def check_heap(facts: Facts) -> None:
    same("instances", INSTANCES, {name: facts.instances[name] for name in INSTANCES})
    same("fields that are not null", FIELDS, {key: facts.fields[key] for key in FIELDS})
    same("static fields", STATICS, _ours(facts.statics))
    same("superclasses", SUPERS, {name: super_ for name, super_ in facts.supers.items() if name in SUPERS})
    same("Node[][]", (1, ROWS), (facts.arrays["Truth$Node[][]"], facts.elements["Truth$Node[][]"]))
    # Garbage may be in the dump, but without its references: the array of all nodes, in which they were counted.
    same("elements of Node[]", ROWS, facts.elements["Truth$Node[]"])


def check_sites(facts: Facts) -> None:
    for type_, (method, count) in ALLOCATED.items():
        same(f"{type_} allocated in {method}", count, allocated(facts, type_, method))


def check_samples(facts: Facts) -> None:
    by_method: dict[str, int] = {}
    for frames, count in facts.samples.items():
        if frames and frames[0].method.startswith("Truth."):  # on a busy machine the JVM's own start may take longer
            by_method[frames[0].method] = by_method.get(frames[0].method, 0) + count
    same("the method with most samples", HOT, max(by_method, key=lambda method: by_method[method], default="none"))


def shares(facts: Facts) -> dict[tuple[str, ...], float]:
    """By the methods on the stack, innermost first, of all samples in main; the lines within a method vary from run to run."""
    found: dict[tuple[str, ...], int] = {}
    for frames, count in facts.samples.items():
        methods = tuple(_methods(frames))
        if methods[-1:] == ("Shares.main",):
            found[methods] = found.get(methods, 0) + count
    total = sum(found.values())
    return {methods: 100 * count / total for methods, count in found.items()}


def check_shares(facts: Facts) -> None:
    """Stacks with few samples are there or not by chance."""
    found = shares(facts)
    expected: dict[tuple[str, ...], float] = {("Shares.work", method, "Shares.main"): share for method, share in SHARES.items()}
    for stack in found.keys() | expected.keys():
        share, right = found.get(stack, 0.0), expected.get(stack, 0.0)
        if abs(share - right) > SHARE_ERROR or (right and not share):
            raise MismatchError(f"{stack}: {share:.1f} % of the samples, not {right:.0f} %")


def compare_samples(text: Facts, binary: Facts) -> None:
    """Two runs of Shares.java."""
    ours, theirs = shares(text), shares(binary)
    for stack in ours.keys() | theirs.keys():
        both = ours.get(stack, 0.0), theirs.get(stack, 0.0)
        if abs(both[0] - both[1]) > SHARE_ERROR:
            raise MismatchError(f"{stack}: {both[0]:.1f} % in the text, {both[1]:.1f} % in the binary dump")
    totals = text.total_samples, binary.total_samples
    if max(totals) > TOTAL_RATIO * min(totals):
        raise MismatchError(f"{totals[0]} samples in the text, {totals[1]} in the binary dump")


def check_threads(facts: Facts) -> None:
    same("threads", THREADS, our_threads(facts))


def our_threads(facts: Facts) -> list[str]:
    """Threads that start at about the same time are written in any order."""
    return sorted(name for name in facts.started if name in THREADS)


def our_sites(facts: Facts) -> list[Site]:
    """By type and place; line numbers and all. Live objects depend on when garbage was collected."""
    found = [site for site in facts.sites if any(frame.method.startswith("Truth") for frame in site.frames)]
    return sorted(found, key=lambda site: (site.type, str(site.frames), site.allocated_bytes))


def compare(text: Facts, binary: Facts) -> None:
    """Two runs of the same program: the text of one says what the binary dump of the other says."""
    same("superclasses", _ours(text.supers), _ours(binary.supers))
    same("static fields", _ours(text.statics), _ours(binary.statics))
    same("instances", _ours(text.instances), _ours(binary.instances))
    same("fields that are not null", _ours(text.fields), _ours(binary.fields))
    same("arrays", _ours(text.arrays), _ours(binary.arrays))
    same("elements", _ours(text.elements), _ours(binary.elements))
    same("threads", our_threads(text), our_threads(binary))
    sites = [[(s.type, s.frames, s.allocated_bytes, s.allocated) for s in our_sites(facts)] for facts in (text, binary)]
    same("sites", *sites)
