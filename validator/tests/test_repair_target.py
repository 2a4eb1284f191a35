"""--repair: where the copy goes, and whether it is made at all."""

import gzip
import json
import os
import stat
import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from dumps import AGENT, OBJECT, VALID, dump, instance, object_array
from tool import run

BLOCK = 1 << 20


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# ---- Permissions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("out", ["copy", "copy.gz"])
@pytest.mark.parametrize("wanted", [0o600, 0o640, 0o644, 0o660, 0o400])
def test_the_copy_has_the_mode_of_the_input(wanted: int, out: str, tmp_path: Path) -> None:
    """Whatever the umask is, and whether the copy replaces a file or not."""
    (tmp_path / "broken").write_bytes(VALID[:-3])
    (tmp_path / "broken").chmod(wanted)
    for _ in range(2):
        assert run("--repair", out, "broken", cwd=tmp_path, umask=0o027).status == 0
        assert mode(tmp_path / out) == wanted
        (tmp_path / out).chmod(0o666)


def test_the_copy_of_a_pipe_has_the_usual_mode(tmp_path: Path) -> None:
    assert run("--repair", "copy", "-", cwd=tmp_path, stdin=VALID[:-3], umask=0o027).status == 0
    assert mode(tmp_path / "copy") == 0o640


@pytest.mark.parametrize("wanted", [0o600, 0o644])
def test_a_dump_made_from_another_has_its_mode(wanted: int, tmp_path: Path) -> None:
    if "HPROF_GEN" not in os.environ:
        pytest.skip("needs hprof-gen")
    (tmp_path / "dump").write_bytes(VALID)
    (tmp_path / "dump").chmod(wanted)
    subprocess.run([os.environ["HPROF_GEN"], "--from", "dump", "-o", "other"], cwd=tmp_path, check=True, umask=0o022)
    assert mode(tmp_path / "other") == wanted


# ---- Compression -----------------------------------------------------------------------------------------------------


def members(packed: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The header up to the deflated data and the content of each member."""
    while packed:
        inflater = zlib.decompressobj(31)
        content = inflater.decompress(packed)
        yield packed[: 34 if packed[3] else 10], content
        packed = inflater.unused_data


@pytest.mark.parametrize("size", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 4711])
def test_a_copy_whose_name_ends_in_gz_is_compressed_as_hotspot_does_it(size: int, tmp_path: Path) -> None:
    """A member for each MiB of the dump; the first says so in a comment. The end of the dump is at chosen places."""
    plain = dump(instance(0x20, OBJECT))
    noise = os.urandom(max(0, size - len(plain) - 18))
    array = bytes.fromhex("23 0000000000000030 00000000") + len(noise).to_bytes(4, "big") + b"\x08" + noise
    data = dump(instance(0x20, OBJECT), *([array] if noise else []))
    (tmp_path / "valid").write_bytes(data)
    assert run("--repair", "copy.gz", "valid", cwd=tmp_path).status == 0
    found = list(members((tmp_path / "copy.gz").read_bytes()))
    assert b"".join(content for _, content in found) == data
    assert [len(content) for _, content in found[:-1]] == [BLOCK] * (len(found) - 1)
    assert found[0][0] == bytes.fromhex("1f8b0810000000000400") + b"HPROF BLOCKSIZE=1048576\0"
    assert all(header == bytes.fromhex("1f8b0800000000000400") for header, _ in found[1:])
    assert run("copy.gz", cwd=tmp_path).status == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.gz", "valid"]


def test_compressed_input_and_output(tmp_path: Path) -> None:
    (tmp_path / "broken.gz").write_bytes(gzip.compress(VALID[:-3]))
    assert run("--repair", "copy.gz", "broken.gz", cwd=tmp_path).status == 0
    assert gzip.decompress((tmp_path / "copy.gz").read_bytes()) == VALID
    assert run("--repair", ".gz", "broken.gz", cwd=tmp_path).status == 0
    assert (tmp_path / ".gz").read_bytes() == VALID


# ---- Space -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 KiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder], check=False, capture_output=True)
    if done.returncode != 0:
        pytest.skip("mounting is forbidden here" if os.geteuid() == 0 else "only root may mount")
    yield folder
    subprocess.run(["umount", folder], check=True)


def big(count: int) -> bytes:
    return dump(*(object_array(0x1000 + 8 * i, 0x18, range(0, 8000, 8)) for i in range(count)))[:-3]


def test_space_is_checked_first(small: Path, tmp_path: Path) -> None:
    (tmp_path / "broken").write_bytes(big(100))
    for out, needed in (("small/copy", "803 KB"), ("small/copy.gz", "1.07 MB")):  # the plain copy lies beside it
        done = run("--repair", out, "broken", cwd=tmp_path)
        assert (done.status, done.out) == (3, "")
        assert done.err == (
            f"hprof-validate: {out}: the copy needs about {needed}, and the file system has room for 262 KB; "
            "--force tries it all the same\n"
        )
    assert list(small.iterdir()) == []


def test_parts_need_space_too(small: Path, tmp_path: Path) -> None:
    whole = big(100)
    middle = len(whole) // 4
    (tmp_path / "broken").write_bytes(whole[:middle])
    (tmp_path / "broken.p0").write_bytes(whole[middle:])
    done = run("--repair", "small/copy", "broken", cwd=tmp_path)
    assert (done.status, "the copy needs about 803 KB" in done.err, list(small.iterdir())) == (3, True, [])


def test_a_full_disk_is_named(small: Path, tmp_path: Path) -> None:
    """Not the input, which is somewhere else: with --force, and where the size of the dump is not known first."""
    (tmp_path / "broken").write_bytes(big(100))
    (tmp_path / "broken.gz").write_bytes(gzip.compress(big(100)))
    for arguments in (["--force", "broken"], ["broken.gz"]):
        done = run("--repair", "small/copy", *arguments, cwd=tmp_path)
        assert (done.status, done.err) == (3, "hprof-validate: small/copy: No space left on device\n")
    assert list(small.iterdir()) == []


def test_a_file_that_would_be_too_large_is_named(tmp_path: Path) -> None:
    """As by `ulimit -f`, also while the copy is compressed."""
    (tmp_path / "broken").write_bytes(big(30))
    done = subprocess.run(
        ["sh", "-c", f"ulimit -f 300; exec {os.environ['HPROF_VALIDATE']} --repair copy broken"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (3, b"hprof-validate: copy: File too large\n")
    assert [path.name for path in tmp_path.iterdir()] == ["broken"]


# ---- A copy of nothing -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [dump(), VALID[: VALID.index(b"\x1c\0\0\0\0")], VALID[:31], VALID[:100]])
def test_a_copy_without_objects_is_not_made(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "broken").write_bytes(data)
    done = run("--repair", "copy", "broken", cwd=tmp_path)
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("hprof-validate: broken: no object can be read, so no copy is made; it would hold ")
    assert not (tmp_path / "copy").exists()
    as_json = run("--format", "json", "--repair", "copy", "broken", cwd=tmp_path)
    assert (as_json.status, json.loads(as_json.out)["failure"]) == (1, done.err.partition("broken: ")[2].rstrip())
    assert run("--force", "--repair", "copy", "broken", cwd=tmp_path).status == 0
    assert (tmp_path / "copy").exists()


def test_an_empty_file_has_no_copy(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    for force in ([], ["--force"]):
        assert run(*force, "--repair", "copy", "empty", cwd=tmp_path).status == 1
    assert not (tmp_path / "copy").exists()


def test_a_profile_of_the_agent_needs_no_object(tmp_path: Path) -> None:
    (tmp_path / "agent").write_bytes(AGENT)
    assert run("--repair", "copy", "agent", cwd=tmp_path).status == 0
    assert (tmp_path / "copy").read_bytes() == AGENT


def test_force_is_for_repair(tmp_path: Path) -> None:
    (tmp_path / "valid").write_bytes(VALID)
    done = run("--force", "valid", cwd=tmp_path)
    assert (done.status, "--force is for --repair" in done.err) == (2, True)
