"""What depends on where the tree is. The package has the corpus, the gold dumps and hprof_corpus, which is in no index."""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup  # type: ignore[import-untyped, unused-ignore]
from setuptools.command.build_py import build_py  # type: ignore[import-untyped, unused-ignore]

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("corpus", "conformance/gold", "conformance/readers", "conformance/producers")
KEPT = {"corpus": (".hprof", ".json"), "gold": (".xz", ".gz", ".json"), "readers": (".toml",), "producers": (".toml",)}


class BuildWithTree(build_py):  # type: ignore[misc, unused-ignore]
    """Copies what a run with --reader needs of the source tree."""

    def run(self) -> None:
        super().run()
        built = Path(self.build_lib)
        package = ROOT / "generator" / "python" / "hprof_corpus"
        shutil.copytree(package, built / "hprof_corpus", dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        for part in PARTS:
            kept = KEPT[Path(part).name]
            for file in sorted((ROOT / part).rglob("*")):
                if file.suffix in kept and file.is_file():
                    copy = built / "hprof_conformance" / "tree" / file.relative_to(ROOT)
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(file, copy)


setup(cmdclass={"build_py": BuildWithTree})
