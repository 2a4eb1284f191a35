"""The producers of conformance/producers: real programs that write dumps, checked against the specification and their own word."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hprof_conformance import cases, expectations, facts, javaproject, jvms, steps, tools, ways
from hprof_conformance.command import RefusedError, own_program
from hprof_conformance.everything import FailedError
from hprof_conformance.expectations import Accept, outcome_of_dump
from hprof_conformance.files import read_json, read_toml
from hprof_conformance.gold import Gold, keep
from hprof_conformance.jvms import Jvm, NotBuiltError, NotHereError
from hprof_conformance.secrets import FORMS, Planted
from hprof_conformance.tools import OWN_TOOLS, built
from hprof_conformance.ways import Dump, Producer, Setting
from hprof_conformance.whole import ends_well, whole_until
from hprof_corpus.truth import holds, requires
from hprof_corpus.walk import FramingError

Json = dict[str, Any]


def read_producers(root: Path) -> list[Producer]:
    return [
        Producer(name=path.parent.name, folder=path.parent, **read_toml(path))
        for path in sorted((root / "conformance" / "producers").glob("*/producer.toml"))
    ]


def lacks(root: Path, producer: Producer) -> str:
    """What this machine has not, and the producer needs, at a glance."""
    missing = tools.lacks(root, producer)
    if producer.kind == "shark":
        missing += javaproject.lacks()
    if producer.jdk:
        missing += jvms.lacks(producer.jdk, producer.architecture)
    return f"not here: {', '.join(missing)}" if missing else ""


def own_producer(program: str) -> Producer:
    path = own_program(program)
    return Producer(path.name, path.name, "auto", "own", path, ways=["dump"], own=True)


# ---- the check


def own_filter(command: str, root: Path) -> Producer:
    """What `--filter COMMAND` names: IN and OUT are the two files, or follow the command."""
    program, *arguments = shlex.split(command)
    start = [str(own_program(program)), *arguments]
    if not {"IN", "OUT"} & {*start}:
        start += ["IN", "OUT"]
    if not {"IN", "OUT"} <= {*start}:
        raise RefusedError("--filter: the command has IN or OUT, and not both")
    name = Path(program).name
    return Producer(name, name, "auto", "filter", own_program(program), ways=filtered_cases(root), start=start, own=True)


_REAL = ("jdk8", "jdk17", "jdk25", "agent8", "sa17")


def filtered_cases(root: Path) -> list[str]:
    """Valid dumps: some real ones, those of the corpus, and two with secrets."""
    listed = read_json(root / "corpus" / "manifest.json")["files"]
    valid = [one for one in listed if one["checked_in"] and one["file"].startswith("valid/") and "gzip" not in one["requires"]]
    return [*FORMS, *(f"gold/{name}" for name in _REAL), *(one["file"].removesuffix(".hprof") for one in valid)]


def _validate(tool: Path, file: Path, profile: str) -> Json:
    options = ["--format", "json", "--max-errors", "1000", "--progress", "never", "--profile", profile]
    limit = 600 + file.stat().st_size / (1 << 20)  # far beyond what any dump takes
    try:
        run = subprocess.run([tool, *options, file], capture_output=True, text=True, check=False, timeout=limit)
    except subprocess.TimeoutExpired as error:
        raise FailedError(f"hprof-validate did not end within {limit:.0f} s") from error
    if run.returncode not in (0, 1):
        raise FailedError(f"hprof-validate ended with {run.returncode}: {run.stderr.strip()[-300:]}")
    found: Json = json.loads(run.stdout)["files"][0]
    return found


def _profile(tool: Path, dump: Dump) -> str:
    """What a filter leaves out may be what the producer of the original is known by."""
    if dump.profile != "auto" or dump.original is None:
        return dump.profile
    return str(_validate(tool, dump.original, "auto")["profile"])


def _by_rule(found: Json, severities: tuple[str, ...]) -> dict[str, int]:
    """How often each rule was broken, where one of its findings has one of the severities."""
    rules = {one["rule"] for one in found["findings"] if one["severity"] in severities}
    return {rule: found["totals"][rule] for rule in sorted(rules)}


NOT_COMPARED = "not compared"  # the producer says nothing of what it dumped


def _unread(dump: Dump, size: int, content: str, fine: bool) -> Json:
    empty: Json = {"strict": {}, "in_profile": {}, "differs": {}, "covered": 0, "objects": 0}
    return {"how": dump.how, "bytes": size, "valid": fine, **empty, "content": content, "fine": fine}


def check(tool: Path, dump: Dump, says: bool) -> Json:
    """`fine`: valid in the producer's profile, without a warning, and the content is what the program says. An interrupted dump is
    fine if it is invalid, or has a warning, and the offset from which on it is incomplete is right. A dump may end before it can be
    interrupted. `says`: the producer is known to say what it dumped."""
    if dump.file is None:  # an interrupted producer may delete what is not complete
        return _unread(dump, 0, dump.note or "nothing is left", dump.interrupted)
    size = dump.file.stat().st_size
    try:
        strict, own = _validate(tool, dump.file, "strict"), _validate(tool, dump.file, _profile(tool, dump))
    except FailedError as error:
        return _unread(dump, size, str(error), fine=False)
    is_valid = bool(own["valid"] or own["incomplete"])  # what is missing, findings and content say
    left = _by_rule(own, ("error", "warning"))
    compared = facts.Compared([], 0, 0)
    if dump.interrupted:
        content = "; ".join(words for words in (_whole(dump.file, strict), dump.note) if words)
        fine = content.startswith("complete until") and (bool(left) or ends_well(dump.file))
    else:
        try:
            if dump.original is not None:
                compared = _filtered(dump.file, dump.original, dump.planted)
            elif dump.facts:
                compared = facts.compare(dump.file, dump.facts)
            elif says:
                compared = facts.Compared([facts.Difference("facts", "none", "those of the program")], 0, 0)
        except FramingError as error:
            return _unread(dump, size, f"the Python reader cannot read it: {error}", fine=False)
        is_compared = dump.facts or dump.original or says
        content = "; ".join(map(str, compared.differences)) if is_compared else NOT_COMPARED
        fine = is_valid and not left and not compared.differences
    return {
        "how": dump.how,
        "bytes": size,
        "valid": is_valid,
        "strict": _by_rule(strict, ("error", "warning", "note")),
        "in_profile": left,
        "content": content,
        "differs": {one.what: one.found for one in compared.differences},
        "covered": compared.covered,
        "objects": compared.objects,
        "fine": fine,
    }


def _filtered(file: Path, original: Path, planted: Planted | None) -> facts.Compared:
    """A filter keeps all content, or all but the payload. One that removes some of the planted secrets has to remove all."""
    exact = facts.compare_to(file, original)
    if not exact.differences:
        return exact
    compared = facts.compare_to(file, original, payload=False)
    left = planted.left_in(file.read_bytes()) if planted is not None else []
    differences = [*compared.differences, *(facts.Difference(place, "the secret", "no secret") for place in left)]
    return facts.Compared(differences, compared.covered, compared.objects)


def _whole(file: Path, strict: Json) -> str:
    """Until where the dump is complete, as the tool says and as the Python reader does."""
    try:
        right = whole_until(file, strict["bytes"])
    except FramingError as error:
        return f"the Python reader cannot say: {error}"
    if strict["sound_until"] != right:
        return f"sound until {strict['sound_until']} instead of {right} of {strict['bytes']} bytes"
    return f"complete until {right} of {strict['bytes']} bytes"


def _jvm(root: Path, producer: Producer) -> Jvm:
    """A producer that is no JVM gets one that is never started."""
    if producer.kind == "agent":
        return jvms.in_sid(root, producer.jdk)
    return jvms.find(root, producer.jdk, producer.architecture) if producer.jdk else Jvm(Path("/"))


def _version(root: Path, producer: Producer, jvm: Jvm) -> str:
    if producer.jdk:
        return jvm.version()
    name = "hprof-gen" if producer.kind == "hprof-gen" else "".join(producer.start[:1])
    if name in OWN_TOOLS:
        tool = built(root, name, OWN_TOOLS[name])
        return subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    return producer.version or "unknown"


def _about(setting: Setting, version: str, way: str) -> str:
    producer = setting.producer
    who = f"{producer.title}, version {version}"
    if producer.kind == "shark":
        return f"gold/{way}, copied by {who}."
    main, arguments = setting.program(way)
    options = "".join(f", {option}" for option in ways.JCMD.get(way, []))
    return f"{' '.join([main, *arguments])}, dumped by {who}{options}."


def _gold(setting: Setting, version: str, dump: Dump, checked: Json) -> Gold:
    """A reader may refuse a dump that is invalid even in the producer's profile."""
    assert dump.file is not None
    name, about = _gold_name(setting.producer.name, dump.how), _about(setting, version, dump.how)
    should, data = "accept" if checked["valid"] else "either", dump.file.read_bytes()
    features = requires(memoryview(data), cases.counts_of(holds(memoryview(data))))
    return Gold(name, about, should, list(checked["in_profile"]), features, data, facts.lines(dump.facts))


def _gold_name(producer: str, way: str) -> str:
    return "-".join(word for word in (producer, *way.split("-")) if word != ways.SMALL)


def _failed(found: Json, error: Exception) -> Json:
    found["why_not"] = str(error)
    found["surprises"] = [{"case": "the run", "what": str(error)}]
    return found


def run(root: Path, build: Path, producer: Producer, accept: Accept | None, gold: bool) -> Json:
    found: Json = {
        "name": producer.name,
        "title": producer.title,
        "version": "",
        "profile": producer.profile,
        "own": producer.own,
        "ran": False,
        "why_not": producer.why,
        "dumps": [],
        "left_out": [],
        "surprises": [],
    }
    if producer.kind == "none":
        return found
    if producer.kind == "filter":
        found["seed"] = ways.seed()
    try:
        tool, jvm = built(root, "hprof-validate", "validator"), _jvm(root, producer)
        found["version"] = _version(root, producer, jvm)
        folder = jvm.folder(producer.name)
    except (NotBuiltError, subprocess.SubprocessError, OSError) as error:
        return _failed(found, error)
    except NotHereError as error:
        found["why_not"] = str(error)
        return found
    setting = Setting(root, build, folder, producer, jvm)
    kept: list[Gold] = []
    try:
        for dump in ways.KINDS[producer.kind](setting):
            steps.say(f"{producer.title}: {dump.how}{f': {dump.note}' if dump.note else ''}")
            if dump.left_out:
                found["left_out"].append({"how": dump.how, "why": dump.note})
                continue
            found["dumps"].append(check(tool, dump, says=not producer.own and dump.how not in producer.not_compared))
            if dump.file is None:
                continue
            if gold:
                kept.append(_gold(setting, found["version"], dump, found["dumps"][-1]))
            shutil.rmtree(dump.file.parent)  # a folder for each way: Setting.place
        found["ran"] = True
    except (NotBuiltError, FailedError, subprocess.SubprocessError, OSError) as error:
        return _failed(found, error)
    except NotHereError as error:
        found["why_not"] = str(error)
        return found
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if gold and [one["how"] for one in found["dumps"]] == producer.ways:
        keep(root, producer.name, kept, [_gold_name(producer.name, way) for way in producer.gold])
    _compare(root, producer, found, accept)
    return found


def _compare(root: Path, producer: Producer, found: Json, accept: Accept | None) -> None:
    """Findings and differences that expectations/<name>.toml does not list are surprises."""
    path = root / "conformance" / "expectations" / f"{producer.name}.toml"
    own = producer.own
    known = expectations.Expectations() if own else expectations.read(path)
    known_ways = {way for one in read_producers(root) if one.name == producer.name for way in one.ways}
    seen = {
        dump["how"]: expectations.Seen(outcome_of_dump(dump), dump["fine"], dump["content"], dump["differs"])
        for dump in found["dumps"]
    }
    if accept is not None and not own:
        known = expectations.updated(known, found["version"], seen, known_ways, accept)
        expectations.write(path, producer.title, known)  # even without cases: another version may show some
    for dump in found["dumps"]:
        expected = known.cases.get(dump["how"])
        if expected is not None and expected.allows(seen[dump["how"]].outcome, dump["differs"]):
            dump["reason"], dump["finding"] = expected.reason, expected.finding
    surprises = expectations.compare(known, seen, known_ways, complete=True)
    found["surprises"] = [{"case": one.case, "what": one.what} for one in surprises]
