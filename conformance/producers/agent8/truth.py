"""What Truth.java leaves in a dump, and whether two dumps of it say the same."""

from __future__ import annotations

from collections import Counter

from facts import UNKNOWN, Facts, Frame, Site

POINTS, NODES, INTS, ROWS, DROPPED, CALLS = 1000, 500, 300, 40, 2000, 1234

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
# By type, and the innermost method of the program on the stack. Of an array of a class or of arrays its class is counted too; the
# arrays within that of `new Node[ROWS][3]` are not.
ALLOCATED = {
    ("Truth$Point", "Truth$Base.<init>"): POINTS,
    ("Truth$Node", "Truth$Node.<init>"): NODES,
    ("Truth$Node[]", "Truth.allocateNodes"): 2,
    ("Truth$Node[][]", "Truth.allocateArrays"): 2,
    ("int[]", "Truth.allocateArrays"): INTS,
    ("int[][]", "Truth.allocateArrays"): 2,
    ("Truth$Dropped", "Truth$Dropped.<init>"): DROPPED,
    ("Truth$Gate", "Truth$Gate.<init>"): 1,
    ("Truth$Contender", "Truth$Contender.<init>"): 3,
    ("Truth$Waiter", "Truth$Waiter.<init>"): 1,
}
# Calls of methods by methods, until the program ends. Waiter.run does not.
PAIRS = {
    ("Truth.<clinit>", "<unknown caller>"): 1,
    ("Truth$Gate.<init>", "Truth.<clinit>"): 1,
    ("Truth.main", "<unknown caller>"): 1,
    **dict.fromkeys(
        [(f"Truth.{name}", "Truth.main")
         for name in ("step", "allocatePoints", "allocateNodes", "allocateArrays", "drop", "call", "contend", "park", "spin")],
        1,
    ),
    ("Truth$Point.<init>", "Truth.allocatePoints"): POINTS,
    ("Truth$Base.<init>", "Truth$Point.<init>"): POINTS,
    ("Truth$Node.<init>", "Truth.allocateNodes"): NODES,
    ("Truth$Dropped.<init>", "Truth.drop"): DROPPED,
    ("Truth.called", "Truth.call"): CALLS,
    ("Truth$Contender.<init>", "Truth.contend"): 3,
    ("Truth$Contender.run", "<unknown caller>"): 3,
    ("Truth$Waiter.<init>", "Truth.park"): 1,
}  # fmt: skip
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


def allocations(facts: Facts) -> Counter[tuple[str, str]]:
    """What ALLOCATED has; a class without a LOAD_CLASS, as arrays have none in a binary dump of sites alone, has no name."""
    types = {type_ for type_, _ in ALLOCATED}
    found: Counter[tuple[str, str]] = Counter()
    for site in facts.sites:
        method = next((method for method in _methods(site.frames) if method.startswith("Truth")), "")
        if method and (site.type in types or (site.type == UNKNOWN and method.startswith("Truth.allocate"))):
            found[site.type, method] += site.allocated
    return found


def check_sites(facts: Facts) -> None:
    found = allocations(facts)
    expected: Counter[tuple[str, str]] = Counter()
    for (type_, method), count in ALLOCATED.items():
        is_nameless = (UNKNOWN, method) in found and type_.endswith("[]") and type_ != "int[]"
        expected[UNKNOWN if is_nameless else type_, method] += count
    same("allocated objects", expected, found)


def check_calls(facts: Facts) -> None:
    """Of cpu=times, which leaves out methods that took no millisecond."""
    expected: Counter[str] = Counter()
    for (method, _), count in PAIRS.items():
        expected[method] += count
    ours = {method: count for method, count in facts.calls.items() if method.startswith("Truth")}
    same("calls", {method: expected[method] for method in ours}, ours)
    same("methods without calls", set(), {HOT, "Truth.called", "Truth$Contender.run"} - ours.keys())


def check_pairs(facts: Facts) -> None:
    """Of cpu=old."""
    same("calls", PAIRS, {pair: count for pair, count in facts.pairs.items() if pair[0].startswith("Truth")})


def check_waits(facts: Facts) -> None:
    same("waits to be notified of Gate", ["truth-waiter"], [name for signature, name in facts.waits if signature == "LTruth$Gate;"])


def check_crowd(facts: Facts, members: int) -> None:
    """The first monitor dump of Crowd.java is made while main owns the door."""
    crowd = tuple(sorted(f"crowd-{i}" for i in range(members)))
    door = facts.monitors[0]["LCrowd$Door;"]
    same("owner and entry count", ("main", 1), (door.owner, door.entries))
    same("threads that wait to be notified", ("crowd-sleeper",), door.to_be_notified)
    same("threads that wait to enter", (*crowd, "crowd-sleeper"), door.to_enter)


def check_contended(facts: Facts, members: int) -> None:
    same("contended entries of the door", members, facts.contended["Crowd$Door"])


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
    compare_totals(text, binary, TOTAL_RATIO)


def compare_totals(first: Facts, second: Facts, ratio: int = 2) -> None:
    totals = first.total_samples, second.total_samples
    if max(totals) > ratio * min(totals):
        raise MismatchError(f"{totals[0]} and {totals[1]} samples")


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


def compare_sites(text: Facts, binary: Facts) -> None:
    """With heap=sites alone a binary dump has no LOAD_CLASS of most classes of arrays."""

    def sites(facts: Facts) -> list[tuple[str, tuple[Frame, ...], int, int]]:
        return sorted(
            ("an array" if is_object_array(s.type) else s.type, s.frames, s.allocated_bytes, s.allocated) for s in our_sites(facts)
        )

    same("sites", sites(text), sites(binary))


def is_object_array(type_: str) -> bool:
    return type_ == UNKNOWN or (type_.endswith("[]") and ("." in type_ or "$" in type_ or type_.endswith("[][]")))
