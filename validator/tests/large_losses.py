"""The draws of losses.py on a dump of any size, in bounded memory: 2 GB by default.

Damage is drawn in some adjacent records, which are read as losses.py reads a dump. hprof-diff compares the copy with the original,
object by object; an object whose class is lost, too, is the same if its bytes are.

    large_losses.py [--bytes SIZE] [--draws N] [--seed N] [--folder FOLDER] [DUMP]
"""

import argparse
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from losses import HEADER, MANY_BYTES, ONE_FAULT, RECORD_HEADER, Damage, Kind, Original, Subrecord, read
from tool import TOOL

BLOCK, WINDOW, TRIES = 1 << 20, 2 << 20, 1000
KINDS = ("classes", "instances", "object_arrays", "primitive_arrays", "roots")
MOST = dict.fromkeys(ONE_FAULT, 0.005) | dict.fromkeys(MANY_BYTES, 0.01)  # of all sub-records, as in test_losses.py
MEAN = 0.001


def record_starts(dump: BinaryIO, size: int) -> Iterator[int]:
    at = HEADER
    while at < size:
        yield at
        dump.seek(at + 5)
        at += RECORD_HEADER + int(struct.unpack(">I", dump.read(4))[0])


def window(dump: BinaryIO, starts: list[int], size: int, at: int) -> tuple[Original, int]:
    """The records from the one at an offset on, after the header of the dump; and how far they are from where they were."""
    first = max(start for start in starts if start <= at)
    end = next((start for start in starts if start >= first + WINDOW), size)
    dump.seek(0)
    header = dump.read(HEADER)
    dump.seek(first)
    return read(header + dump.read(end - first)), first - HEADER


def is_touched(s: Subrecord, damages: list[Damage]) -> bool:
    return any(d.at < s.end and s.at < d.end if d.at < d.end else s.at < d.at < s.end for d in damages)


def draw(dice: random.Random, kind: Kind, dump: BinaryIO, starts: list[int], size: int) -> tuple[list[Damage], int]:
    """Damage of a kind, and how many sub-records it touches."""
    for tries in range(TRIES):
        near_start = dice.random() ** (1 + tries % 12)  # HotSpot dumps classes first
        part, shift = window(dump, starts, size, HEADER + int((size - HEADER) * near_start))
        try:
            damages = kind(dice, part)
        except IndexError:
            continue  # nothing there may be damaged so
        touched = sum(is_touched(s, damages) for s in part.heap)
        return [Damage(d.at + shift, d.end + shift, d.by, d.what) for d in damages], touched
    sys.exit(f"nothing has {kind.__name__}")


def copy_range(source: BinaryIO, to: BinaryIO, n: int) -> None:
    while n > 0 and (block := source.read(min(n, BLOCK))):
        to.write(block)
        n -= len(block)


def write_damaged(original: Path, broken: Path, damages: list[Damage]) -> None:
    with original.open("rb") as source, broken.open("wb") as to:
        for d in damages:
            copy_range(source, to, d.at - source.tell())
            to.write(d.by)
            source.seek(d.end)
        shutil.copyfileobj(source, to, BLOCK)


def differences(original: Path, copy: Path) -> tuple[int, int, int]:
    """Sub-records that are lost or changed, that are new, and all of the original."""
    done = subprocess.run(
        [os.environ["HPROF_DIFF"], "--by", "id", "--format", "json", original, copy], capture_output=True, text=True, check=False
    )
    if done.returncode > 1:
        sys.exit(done.stderr)
    kinds = [json.loads(done.stdout)["kinds"][kind] for kind in KINDS]
    return (
        sum(kind["only_in_a"] + kind["changed"] for kind in kinds),
        sum(kind["only_in_b"] for kind in kinds),
        sum(kind["same"] + kind["changed"] + kind["only_in_a"] for kind in kinds),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", default="2G")
    parser.add_argument("--draws", type=int, default=len(ONE_FAULT) + len(MANY_BYTES))
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--folder", type=Path, help="with room for three dumps")
    parser.add_argument("dump", nargs="?", type=Path, help="instead of one by hprof-gen")
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    shares = []
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        original, broken, copy = (Path(name) / file for file in ("original.hprof", "broken.hprof", "copy.hprof"))
        if given.dump:
            original = given.dump
        else:
            command = [os.environ["HPROF_GEN"], "--like", "hotspot", "--bytes", given.bytes, "--seed", str(given.seed)]
            subprocess.run([*command, "-o", original], check=True)
        size = original.stat().st_size
        with original.open("rb") as dump:
            starts = list(record_starts(dump, size))
            for i in range(given.draws):
                kind = (ONE_FAULT + MANY_BYTES)[i % len(MOST)]
                damages, touched = draw(random.Random(f"{given.seed} {i}"), kind, dump, starts, size)
                where = ", ".join(f"{d.what} at {d.at:#x}" for d in damages)
                write_damaged(original, broken, damages)
                began = time.monotonic()
                subprocess.run([TOOL, "-qq", "--repair", copy, broken], check=True)
                seconds = time.monotonic() - began
                lost, new, whole = differences(original, copy)
                beyond = max(0, lost - touched)
                shares.append(beyond / whole)
                print(f"{where}: {touched} touched, {beyond} of {whole} lost beyond, {new} new, {seconds:.1f} s", flush=True)
                if shares[-1] > MOST[kind] or new > touched + len(damages):
                    sys.exit("too many")
    if sum(shares) > MEAN * len(shares):
        sys.exit(f"too many: {100 * sum(shares) / len(shares):.3f} %")


if __name__ == "__main__":
    main()
