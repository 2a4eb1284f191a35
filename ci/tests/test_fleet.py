"""hprof-fleet on a Dask cluster of this machine, with dumps in an S3 server: however workers, objects and the store fail, each
object has exactly one result, and it is that of hprof-validate.

ci/fleet makes the Python that runs this. The server is moto's; Gate holds its answers up, so that faults come when they should.
"""

# mypy: disable-error-code="import-not-found,import-untyped"
import contextlib
import functools
import gzip
import json
import os
import random
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
import dask
import kubernetes_validate
import pyarrow.parquet
import pytest
import yaml
from dask.distributed import LocalCluster
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

from hprof_validate.fleet._results import Result
from hprof_validate.fleet._run import line
from hprof_validate.fleet.options import check_parser

SOURCE = Path(__file__).resolve().parents[2]
# All of the same wheel.
GENERATOR, VALIDATE, FLEET = (Path(sys.executable).with_name(f"hprof-{name}") for name in ("gen", "validate", "fleet"))
DUMPS = 500
BUCKET = "dumps"
POLICY = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}


class Quiet(WSGIRequestHandler):  # type: ignore[misc, unused-ignore]
    def log(self, *_args: Any) -> None:
        pass


@dataclass
class Gate:
    """Before the server: notes which objects are read, and calls `before` with the key and the first byte of each read."""

    app: Any
    reads: Counter[str] = field(default_factory=Counter)
    before: Callable[[str, int], object] = lambda _key, _first: None

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        key = environ["PATH_INFO"].removeprefix(f"/{BUCKET}/")
        if environ["REQUEST_METHOD"] == "GET" and (asked := re.match(r"bytes=(\d+)-", environ.get("HTTP_RANGE", ""))):
            self.reads[key] += 1
            self.before(key, int(asked[1]))
        return self.app(environ, start_response)


@dataclass
class Store:
    gate: Gate
    url: str
    key: str
    secret: str

    @functools.cached_property
    def s3(self) -> Any:
        return boto3.client(
            "s3", endpoint_url=self.url, region_name="us-east-1", aws_access_key_id=self.key, aws_secret_access_key=self.secret
        )

    def environment(self, secret: str | None = None) -> dict[str, str]:
        return {"AWS_ACCESS_KEY_ID": self.key, "AWS_SECRET_ACCESS_KEY": secret or self.secret, "AWS_ENDPOINT_URL": self.url}

    def put(self, key: str, data: bytes) -> None:
        self.s3.put_object(Bucket=BUCKET, Key=key, Body=data)


@pytest.fixture(scope="module")
def server() -> Iterator[Store]:
    gate = Gate(DomainDispatcherApplication(create_backend_app))
    made = make_server("127.0.0.1", 0, gate, threaded=True, request_handler=Quiet)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{made.server_port}"
    iam = boto3.client("iam", endpoint_url=url, region_name="us-east-1", aws_access_key_id="a", aws_secret_access_key="b")
    iam.create_user(UserName="user")
    key = iam.create_access_key(UserName="user")["AccessKey"]
    iam.put_user_policy(UserName="user", PolicyName="all", PolicyDocument=json.dumps(POLICY))
    # From now on the server checks signatures.
    from_now = urllib.request.Request(f"{url}/moto-api/reset-auth", data=b"0", headers={"Content-Type": "text/plain"})
    urllib.request.urlopen(from_now).close()
    yield Store(gate, url, key["AccessKeyId"], key["SecretAccessKey"])
    made.shutdown()


@pytest.fixture
def store(server: Store) -> Store:
    """With an empty bucket."""
    if BUCKET in [bucket["Name"] for bucket in server.s3.list_buckets()["Buckets"]]:
        for page in server.s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET):
            for one in page.get("Contents", []):
                server.s3.delete_object(Bucket=BUCKET, Key=one["Key"])
    else:
        server.s3.create_bucket(Bucket=BUCKET)
    server.gate.reads.clear()
    server.gate.before = lambda _key, _first: None
    return server


@pytest.fixture
def cluster(server: Store) -> Iterator[Any]:
    patient = {"distributed.deploy.lost-worker-timeout": "1 hour"}  # else a worker that dies twice in 15 seconds is given up
    with dask.config.set(patient), LocalCluster(
        n_workers=0, threads_per_worker=1, dashboard_address=None, env=server.environment(), silence_logs="CRITICAL"
    ) as made:
        yield made


def generate(path: Path, seed: int, objects: int, *options: str) -> bytes:
    command: list[str | Path] = [GENERATOR, "--like", "hotspot", f"--objects={objects}", f"--seed={seed}", "--quiet", *options]
    command.append(f"--output={path}")
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    return path.read_bytes()


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Five hundred, by key: most are valid, some are damaged, one has no byte; half are compressed."""
    folder = tmp_path_factory.mktemp("dumps")
    seed = random.SystemRandom().randrange(1 << 32)
    print("seed", seed)
    draw = random.Random(seed)
    damage = ["truncate", "tag", "type", "count", "length", "record-tag", "zero-page", "lose", "insert", "double", "swap"]

    def make(number: int, seed: int, objects: int, options: list[str]) -> tuple[str, bytes]:
        key = f"2026-11-{number % 28 + 1:02}/host {number}/java_pid{number}.hprof{'.gz' if '--gz=1' in options else ''}"
        return key, generate(folder / str(number), seed, objects, *options)

    drawn = []
    for number in range(DUMPS - 2):
        options = ["--gz=1"] if number % 2 else []
        if draw.random() < 0.15:
            kind = draw.choice([*damage, "gz-cut", "gz-damage-member"] if options else damage)
            options.append(f"--damage={kind}")
        drawn.append((number, draw.randrange(1 << 32), draw.randrange(500, 3000), options))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        made = dict(pool.map(lambda one: make(*one), drawn))
    corrupt = bytearray(next(data for key, data in made.items() if key.endswith(".gz")))
    middle = len(corrupt) // 2
    corrupt[middle : middle + 200] = bytes(200)
    return made | {"corrupt.hprof.gz": bytes(corrupt), "empty.hprof": b""}


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """That takes several requests to read."""
    data = generate(tmp_path_factory.mktemp("large") / "dump", 1, 300_000)
    assert len(data) > 20_000_000
    return data


def expected(dumps: dict[str, bytes], folder: Path) -> dict[str, tuple[str, dict[str, int]]]:
    """Status and findings by rule, as hprof-validate has them of files."""
    names = []
    for number, data in enumerate(dumps.values()):
        (folder / f"file{number}").write_bytes(data)
        names.append(folder / f"file{number}")
    report = subprocess.run([VALIDATE, "--format=json", *names], stdout=subprocess.PIPE, check=False).stdout
    files = json.loads(report)["files"]
    assert len(files) == len(dumps)
    statuses = ["valid" if f["valid"] else "incomplete" if f["incomplete"] else "invalid" for f in files]
    return {key: (status, f["totals"]) for key, status, f in zip(dumps, statuses, files, strict=True)}


@dataclass
class Run:
    process: subprocess.Popen[str]
    output: Path

    def end(self) -> tuple[int, list[str], list[str]]:
        """Status, lines of standard output, lines of standard error."""
        out, err = self.process.communicate(timeout=300)
        print(out, err)
        return self.process.returncode, out.splitlines(), err.splitlines()


def start(store: Store, output: Path, *options: str | Path, pattern: str = f"s3://{BUCKET}/**", secret: str | None = None) -> Run:
    command = [FLEET, "check", pattern, "--output", output, *options]
    environment = os.environ | store.environment(secret)
    return Run(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment), output)


def results(output: Path) -> dict[str, dict[str, Any]]:
    """By key. Each has one."""
    if output.suffix == ".jsonl":
        rows = [json.loads(line) for line in output.read_text().splitlines()]
    else:
        rows = [row | {"rules": dict(row["rules"])} for row in pyarrow.parquet.read_table(output).to_pylist()]
    found = {row["url"].removeprefix(f"s3://{BUCKET}/"): row for row in rows}
    assert len(found) == len(rows)
    return found


def seen(rows: dict[str, dict[str, Any]]) -> dict[str, tuple[str, dict[str, int]]]:
    return {key: (row["status"], row["rules"]) for key, row in rows.items()}


def until(ask: Callable[[], Any]) -> Any:
    """The first answer that is true."""
    end = time.monotonic() + 60
    while not (answer := ask()):
        assert time.monotonic() < end, "waited for a minute"
        time.sleep(0.01)
    return answer


def busy_workers(cluster: Any, number: int | None = None) -> list[Any]:
    """Those that check objects, or that of this number."""
    found = []
    for worker in list(cluster.scheduler.workers.values()):
        keys = [str(task.key) for task in list(worker.processing)]
        if any(key.startswith("hprof-check-") and (number is None or key.endswith(f"-{number}")) for key in keys):
            found += [nanny for nanny in cluster.workers.values() if nanny.worker_address == worker.address and nanny.pid]
    return found


# ---- Faults


def test_each_object_has_one_result(
    store: Store, cluster: Any, dumps: dict[str, bytes], large: bytes, tmp_path: Path
) -> None:
    for key, data in dumps.items():
        store.put(key, data)
    store.put("0large.hprof", large)
    gone = random.sample([key for key in dumps if key.endswith(".gz")], 5)
    in_middle, go_on = threading.Event(), threading.Event()

    def wait_in_middle(key: str, first: int) -> None:
        if key == "0large.hprof" and first > 0:
            in_middle.set()
            go_on.wait(60)

    store.gate.before = wait_in_middle
    run = start(store, tmp_path / "results.parquet", "--scheduler", cluster.scheduler_address, "--prometheus", tmp_path / "metrics")
    assert run.process.stderr
    assert "waiting for one" in run.process.stderr.readline()
    for key in gone:  # it is listed
        store.s3.delete_object(Bucket=BUCKET, Key=key)
    cluster.scale(2)
    assert in_middle.wait(60)
    (victim,) = until(lambda: busy_workers(cluster, 0))  # its object is the first
    os.kill(victim.pid, signal.SIGKILL)
    go_on.set()
    until(lambda: sum(store.gate.reads.values()) > 100)
    os.kill(until(lambda: busy_workers(cluster))[0].pid, signal.SIGKILL)
    status, lines, errors = run.end()
    assert (status, errors) == (3, [])

    found = results(run.output)
    right = expected({"0large.hprof": large} | dumps, tmp_path)
    assert store.gate.reads["0large.hprof"] >= 4  # the killed worker, and another one
    assert found.keys() == right.keys()
    assert all(found[key]["status"] == "unreadable" and "vanished" in found[key]["failure"] for key in gone)
    assert {key: one for key, one in seen(found).items() if key not in gone} == {
        key: one for key, one in right.items() if key not in gone
    }
    assert all(row["size"] == len(dumps.get(key, large)) and row["etag"] for key, row in found.items())
    assert right["corrupt.hprof.gz"][0] == right["empty.hprof"][0] == "invalid"
    count = Counter(row["status"] for row in found.values())
    assert count["valid"] > 300
    assert len(lines) == 1 + len(found) - count["valid"]
    metrics = (tmp_path / "metrics").read_text()
    for kind, number in count.items():
        assert f'hprof_fleet_objects{{status="{kind}"}} {number}.0\n' in metrics
    rules = sum((Counter(row["rules"]) for row in found.values()), Counter[str]())
    assert all(f'hprof_fleet_findings{{rule="{rule}"}} {float(number)}\n' in metrics for rule, number in rules.items())
    assert not list(tmp_path.glob("metrics.*")) and not list(tmp_path.glob("*.new"))


def test_an_object_that_kills_workers_is_the_only_one_that_is_not_read(
    store: Store, cluster: Any, dumps: dict[str, bytes], tmp_path: Path
) -> None:
    some = dict(random.sample(sorted(dumps.items()), 40))
    poison = sorted(some)[20]
    for key, data in some.items():
        store.put(key, data)

    def kill(key: str, _first: int) -> None:
        # In the second round it is alone, and has another number.
        for one in busy_workers(cluster, 20) or busy_workers(cluster, 0) if key == poison else []:
            os.kill(one.pid, signal.SIGKILL)

    store.gate.before = kill
    cluster.scale(2)
    run = start(store, tmp_path / "results.jsonl", "--scheduler", cluster.scheduler_address)
    status, _, errors = run.end()
    assert (status, errors) == (3, [])
    found, right = results(run.output), expected(some, tmp_path)
    assert found[poison]["status"] == "unreadable" and "killed" in found[poison]["failure"]
    assert seen(found) == right | {poison: ("unreadable", {})}


def test_a_worker_needs_no_disk(store: Store, cluster: Any, dumps: dict[str, bytes], large: bytes, tmp_path: Path) -> None:
    """It may not write one byte to a file."""
    some = dict(random.sample(sorted(dumps.items()), 40)) | {"large.hprof": large, "large.hprof.gz": gzip.compress(large, 1)}
    for key, data in some.items():
        store.put(key, data)
    cluster.scale(1)
    with dask.distributed.Client(cluster) as client:
        client.wait_for_workers(1)
        client.run(resource.setrlimit, resource.RLIMIT_FSIZE, (0, 0))

        def fails() -> bool:
            try:
                (tmp_path / "written").write_bytes(b"a")
            except OSError:
                return True
            return False

        assert list(client.run(fails).values()) == [True]
    run = start(store, tmp_path / "results.parquet", "--scheduler", cluster.scheduler_address)
    run.end()
    assert seen(results(run.output)) == expected(some, tmp_path)


def test_results_have_a_name_without_output(store: Store, cluster: Any, dumps: dict[str, bytes], tmp_path: Path) -> None:
    key = next(key for key in dumps if key.endswith(".gz"))
    store.put(key, dumps[key])
    cluster.scale(1)
    command = [FLEET, "check", f"s3://{BUCKET}/**/*.hprof.gz", "--scheduler", cluster.scheduler_address]
    subprocess.run(command, cwd=tmp_path, env=os.environ | store.environment(), check=False)
    assert seen(results(tmp_path / "results.parquet")) == expected({key: dumps[key]}, tmp_path)


def test_an_object_that_is_replaced_while_it_is_read(store: Store, cluster: Any, large: bytes, tmp_path: Path) -> None:
    other = large[: len(large) // 2]
    store.put("large.hprof", large)
    replaced = threading.Lock()

    def replace(_key: str, first: int) -> None:
        if first > 0 and replaced.acquire(blocking=False):
            store.put("large.hprof", other)

    store.gate.before = replace
    cluster.scale(1)
    run = start(store, tmp_path / "results.jsonl", "--scheduler", cluster.scheduler_address)
    run.end()
    row = results(run.output)["large.hprof"]
    assert (row["size"], row["bytes"], row["failure"]) == (len(other), len(other), "")
    assert seen(results(run.output)) == expected({"large.hprof": other}, tmp_path)


def test_wrong_credentials_are_one_error_before_anything_runs(store: Store, dumps: dict[str, bytes], tmp_path: Path) -> None:
    for key, data in list(dumps.items())[:10]:
        store.put(key, data)
    status, lines, errors = start(store, tmp_path / "results.jsonl", secret="wrong").end()
    assert (status, lines, len(errors)) == (2, [], 1)
    assert "signature" in errors[0]
    with LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None, env=store.environment("wrong"), silence_logs="CRITICAL"
    ) as others:
        status, lines, errors = start(store, tmp_path / "results.jsonl", "--scheduler", others.scheduler_address).end()
    assert (status, lines, len(errors)) == (2, [], 1)
    assert "a worker cannot read it" in errors[0]
    assert not sum(store.gate.reads.values()) and (tmp_path / "results.jsonl").read_text() == ""


@pytest.mark.parametrize("options, message", [
    (["--scheduler", "tcp://127.0.0.1:1"], "no Dask scheduler answers"), (["--profile", "hotspit"], "hotspot"),
    (["--output", "/no/such/folder/results.jsonl"], "cannot be written: No such file"),
    (["--output", "/dev/null/results.jsonl"], "/dev/null"),
    (["--prometheus", "/no/such/folder/metrics"], "cannot be written"), (["--output", "results.csv"], ".parquet or .jsonl"),
    (["nothing://x/**"], "nothing"), (["s3://dumps/nothing*"], "no object matches"), (["s3://no-bucket/**"], "no-bucket"),
    (["--storage", "key"], "KEY=VALUE"), (["--jobs", "0"], "from 1 on"),
])
def test_what_cannot_run(store: Store, options: list[str], message: str, tmp_path: Path) -> None:
    options = options.copy()
    store.put("empty.hprof", b"")
    pattern = options.pop() if "://" in options[0] else f"s3://{BUCKET}/**"
    status, lines, errors = start(store, tmp_path / "results.jsonl", *options, pattern=pattern).end()
    assert (status, lines) == (2, [])
    assert message in errors[-1] and errors[-1].startswith("hprof-fleet")


# ---- Later runs


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_the_next_run_checks_what_is_new_or_has_changed(
    store: Store, cluster: Any, dumps: dict[str, bytes], suffix: str, tmp_path: Path
) -> None:
    keys = random.sample(sorted(dumps.keys() - {"empty.hprof"}), 40)
    some = {key: dumps[key] for key in keys}
    for key in keys[:-5]:
        store.put(key, some[key])
    cluster.scale(2)
    output = tmp_path / f"results.{suffix}"
    start(store, output, "--scheduler", cluster.scheduler_address).end()
    assert len(results(output)) == 35
    store.gate.reads.clear()
    for key in keys[:5]:
        some[key] = some[key][:-1]
        store.put(key, some[key])
    for key in keys[-5:]:
        store.put(key, some[key])
    status, lines, _ = start(store, output, "--scheduler", cluster.scheduler_address).end()
    assert store.gate.reads.keys() - set(keys[20:]) >= set(keys[:5])  # others are read to see whether a worker can read at all
    assert store.gate.reads.keys() == {*keys[:5], *keys[-5:]}
    assert seen(results(output)) == expected(some, tmp_path)
    assert status == 1 and lines[-1].endswith("; 30 were checked before")
    store.gate.reads.clear()
    status, again, _ = start(store, output).end()
    assert (status, again[:-1], sum(store.gate.reads.values())) == (1, lines[:-1], 0)
    start(store, output, "--profile", "strict", "--scheduler", cluster.scheduler_address).end()
    assert store.gate.reads.keys() == set(keys)


def test_a_run_that_is_ended_goes_on(store: Store, cluster: Any, dumps: dict[str, bytes], tmp_path: Path) -> None:
    for key, data in dumps.items():
        store.put(key, data)
    cluster.scale(2)
    run = start(store, tmp_path / "results.jsonl", "--scheduler", cluster.scheduler_address)
    until(lambda: sum(store.gate.reads.values()) > 60)
    run.process.terminate()
    status, _, errors = run.end()
    assert (status, len(errors)) == (143, 1)
    before = results(run.output)
    assert 0 < len(before) < DUMPS
    store.gate.reads.clear()
    status, lines, _ = start(store, tmp_path / "results.jsonl", "--scheduler", cluster.scheduler_address).end()
    assert status == 1 and lines[-1].endswith(f"; {len(before)} were checked before")
    assert not store.gate.reads.keys() & before.keys()
    assert seen(results(run.output)) == expected(dumps, tmp_path)


def test_a_scheduler_that_ends(store: Store, dumps: dict[str, bytes], tmp_path: Path) -> None:
    for key, data in dumps.items():
        store.put(key, data)
    environment = os.environ | store.environment()
    dask = Path(sys.executable).with_name("dask")
    file = tmp_path / "scheduler"
    options: list[str | Path] = ["--no-dashboard", "--scheduler-file", file]
    silent: dict[str, Any] = {"stderr": subprocess.DEVNULL, "env": environment}
    scheduler = subprocess.Popen([dask, "scheduler", "--host", "127.0.0.1", "--port", "0", *options], **silent)
    worker = subprocess.Popen([dask, "worker", "--nthreads", "1", "--death-timeout", "5", *options], **silent)
    try:
        until(lambda: file.exists() and file.stat().st_size)
        address = json.loads(file.read_text())["address"]
        run = start(store, tmp_path / "results.jsonl", "--scheduler", address)
        until(lambda: sum(store.gate.reads.values()) > 60)
        scheduler.kill()
        status, _, errors = run.end()
    finally:
        scheduler.kill()
        worker.terminate()
        scheduler.wait()
        worker.wait()
    assert (status, len(errors)) == (3, 1)
    assert "the same command goes on" in errors[0]
    assert 0 < len(results(run.output)) < DUMPS


def test_results_in_the_store(store: Store, large: bytes, tmp_path: Path) -> None:
    """And all on this machine, with credentials as options and threads for each object, beside another cluster."""
    others = socket.socket()
    with contextlib.suppress(OSError):  # somebody else has the port
        others.bind(("127.0.0.1", 8787))
        others.listen()
    store.put("a.hprof", large)
    store.put("b.hprof", large[:-9])
    options = ["--jobs=2", "--allow-incomplete", f"--storage=key={store.key}", f"--storage=secret={store.secret}"]
    options += [f"--storage=endpoint_url={store.url}", "--output", f"s3://{BUCKET}/out/results.jsonl"]
    for _ in range(2):  # the second time the results are there, but are no dump
        status, lines, errors = start(store, tmp_path / "results.jsonl", *options, secret="wrong").end()
        assert errors == []
    rows = [json.loads(line) for line in store.s3.get_object(Bucket=BUCKET, Key="out/results.jsonl")["Body"].read().splitlines()]
    right = expected({"a.hprof": large, "b.hprof": large[:-9]}, tmp_path)
    assert [(row["status"], row["rules"]) for row in rows] == list(right.values())
    assert [row["status"] for row in rows] == ["valid", "incomplete"]
    assert status == 0 and lines[-1].startswith("2 objects, ")
    others.close()


# ---- The documentation


@pytest.mark.parametrize(
    ("number", "words"), [(0, ""), (1, ", at least 1 object missing"), (2000, ", at least 2,000 objects missing")]
)
def test_missing_objects_are_counted_in_words(number: int, words: str) -> None:
    result = Result("s3://a", 1, "", "incomplete", "auto", missing_objects=number, finding="REF-002")
    assert line(result) == f"s3://a: incomplete{words}: REF-002"


def test_the_example_for_kubernetes() -> None:
    documents = list(yaml.safe_load_all((SOURCE / "validator/python/fleet.yaml").read_text()))
    assert [one["kind"] for one in documents] == ["Service", "Deployment", "Deployment", "Job"]
    service, scheduler, workers, job = documents
    assert service["spec"]["selector"] == scheduler["spec"]["template"]["metadata"]["labels"]
    (of_job,) = job["spec"]["template"]["spec"]["containers"]
    assert of_job["command"][0] == "hprof-fleet"
    args = check_parser("")[0].parse_args(of_job["command"][1:])
    address = f"tcp://{service['metadata']['name']}:{service['spec']['ports'][0]['port']}"
    assert args.scheduler == address
    (of_workers,) = workers["spec"]["template"]["spec"]["containers"]
    assert address in of_workers["command"]
    images = {one["spec"]["template"]["spec"]["containers"][0]["image"] for one in documents[1:]}
    assert len(images) == 1
    # By the schemas of the first version in which podFailurePolicy is stable, and of the last one that the package has.
    for version in ("1.31", kubernetes_validate.latest_version()):
        for one in documents:
            kubernetes_validate.validate(one, version, strict=True)
