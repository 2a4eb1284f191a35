"""What `cmake --install` installs is usable: by CMake and by pkg-config, from C and from C++, static and shared."""

import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
CONSUMER = Path(__file__).resolve().parent / "consumer"
C_FLAGS = os.environ.get("HPROF_C_FLAGS", "")
CC = os.environ.get("CC", "cc")
SPEC_URL = "https://example.org/hprof/"

ID_SIZE_3 = b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 3, 1767225600000)


def run(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(command, env=os.environ | environment, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def configure(source: Path, build: Path, *options: str) -> None:
    flags = (f"-DCMAKE_C_FLAGS={C_FLAGS}", f"-DCMAKE_CXX_FLAGS={C_FLAGS}", "-DCMAKE_BUILD_TYPE=None")  # the fastest compilation
    run("cmake", "-G", "Ninja", "-S", source, "-B", build, *flags, *options)


@pytest.fixture(scope="module", params=["static", "shared"])
def prefix(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation: of the build under test, or of a build of the shared library."""
    prefix: Path = tmp_path_factory.mktemp(request.param)
    build = Path(os.environ["HPROF_BUILD"])
    if request.param == "shared":
        build = tmp_path_factory.mktemp("build")
        configure(SOURCE, build, "-DBUILD_SHARED_LIBS=ON", "-DHPROF_TESTS=OFF", f"-DHPROF_SPEC_URL={SPEC_URL}")
        run("cmake", "--build", build)
    run("cmake", "--install", build, "--prefix", prefix)
    return prefix


def packages_of_a_failed_configuration(build: Path, *options: str, **environment: str) -> set[str]:
    """Those of the line that it prints for the user to paste."""
    command: list[str | Path] = ["cmake", "-G", "Ninja", "-S", SOURCE, "-B", build, *options]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    (packages,) = re.findall(r"^ +apt-get install (.*)$", done.stderr, re.MULTILINE)
    return set(packages.split())


def test_a_build_without_libraries_prints_the_line_that_installs_them(tmp_path: Path) -> None:
    needed = {"libisal-dev", "libjansson-dev", "zlib1g-dev", "libssl-dev", "libcmocka-dev"}
    nowhere = os.environ | {"PKG_CONFIG_LIBDIR": str(tmp_path), "PKG_CONFIG_PATH": ""}
    assert needed < packages_of_a_failed_configuration(tmp_path / "tests", **nowhere)
    without_tests = packages_of_a_failed_configuration(tmp_path / "tools", "-DHPROF_TESTS=OFF", **nowhere)
    assert needed - without_tests == {"libcmocka-dev"}
    (readme,) = re.findall(r"^    apt-get install (git (?:.*\\\n)*.*)$", (SOURCE / "README.md").read_text(), re.MULTILINE)
    assert without_tests < set(readme.replace("\\", "").split())


def test_a_build_without_a_compiler_prints_the_line_that_installs_one(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    cmake = shutil.which("cmake")
    assert cmake is not None
    (tmp_path / "bin/cmake").symlink_to(cmake)
    packages = packages_of_a_failed_configuration(tmp_path / "build", PATH=str(tmp_path / "bin"))
    assert {"ninja-build", "gcc", "libc6-dev"} < packages


@pytest.fixture(scope="module")
def pkg_config(prefix: Path) -> dict[str, str]:
    (file,) = prefix.glob("**/hprof.pc")
    return {"PKG_CONFIG_PATH": str(file.parent)}


# Folder and name of each file of a build with all parts. The system decides where libraries go.
FILES = {
    "bin/hprof",
    "bin/hprof-ascii",
    "bin/hprof-diff",
    "bin/hprof-gen",
    "bin/hprof-reduce",
    "bin/hprof-serve",
    "bin/hprof-validate",
    "cmake/hprof/hprofConfig.cmake",
    "cmake/hprof/hprofConfigVersion.cmake",
    "cmake/hprof/hprofTargets.cmake",
    "include/hprof/hprof.h",
    "include/hprof/read.h",
    "pkgconfig/hprof.pc",
    *(
        f"share/{name}"
        for tool in ("hprof", "hprof-diff", "hprof-gen", "hprof-reduce", "hprof-serve", "hprof-validate")
        for name in (
            f"bash-completion/completions/{tool}",
            f"fish/vendor_completions.d/{tool}.fish",
            f"zsh/site-functions/_{tool}",
        )
    ),
    "share/doc/hprof/LICENSE",
    *(["share/doc/hprof/generator/agent/comparison.md"] if "HPROF_AGENT" in os.environ else []),
    *(
        f"share/doc/hprof/{name}"
        for name in (
            "SPEC.md",
            "conformance/HISTORY.md",
            "conformance/PRODUCERS.md",
            "conformance/producers/agent8/TEXT.md",
            "conformance/sources.md",
            "validator/RULES.md",
        )
    ),
    "share/doc/hprof/diff.schema.json",
    "share/doc/hprof/redacted.schema.json",
    "share/doc/hprof/manifest.schema.json",
    "share/doc/hprof/repair.schema.json",
    "share/doc/hprof/stats.schema.json",
    "share/doc/hprof/report.junit.xsd",
    "share/doc/hprof/report.schema.json",
    "share/hprof/hprof_corpus/__init__.py",
    "share/hprof/hprof_corpus/target.py",
    *(f"share/hprof/hprof_corpus/ascii/{path.name}" for path in (SOURCE / "generator/python/hprof_corpus/ascii").glob("*.py")),
}
GENERATED = {"share/doc/hprof/manifest.schema.json"} | {file for file in FILES if "hprof-gen" in file or "hprof-serve" in file}


NOBODY = 65534
# Root installs as a plain user, too.
USERS = [None, NOBODY] if os.geteuid() == 0 else [None]


@pytest.fixture
def home() -> Iterator[Path]:
    """Below a folder that all may enter, which those of pytest are not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)


@pytest.mark.parametrize("user", USERS, ids=lambda user: "as-nobody" if user else "as-oneself")
def test_every_file_is_under_the_prefix(home: Path, user: int | None) -> None:
    """As README installs the tools for a user; CMake lists what it wrote."""
    if user and SOURCE.parent.stat().st_mode & 0o5 != 0o5:
        pytest.skip("only its owner may read the folder above the tree")
    build = Path(os.environ["HPROF_BUILD"])
    prefix = home / ".local"
    # The list is written into the build folder, which may not be the user's: the same script, except for that.
    script = (build / "cmake_install.cmake").read_text()
    assert f'"{build}/${{CMAKE_INSTALL_MANIFEST}}"' in script
    (home / "install.cmake").write_text(script.replace(f'"{build}/${{CMAKE_INSTALL_MANIFEST}}"', f'"{home}/list"'))
    command: list[str | Path] = ["cmake", f"-DCMAKE_INSTALL_PREFIX={prefix}", "-P", home / "install.cmake"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, user=user, cwd=home)
    listed = [Path(line) for line in (home / "list").read_text().splitlines()]
    assert [file for file in listed if not file.is_relative_to(prefix)] == []
    assert {file for file in prefix.rglob("*") if not file.is_dir()} == set(listed)
    assert user is None or {file.stat().st_uid for file in listed} == {user}
    names = {re.sub("^lib.*/(cmake|pkgconfig)/", r"\1/", str(file.relative_to(prefix))) for file in listed}
    others = {name for name in names if not re.match("share/man/|lib.*/libhprof[.]|cmake/hprof/hprofTargets-", name)}
    assert others == (FILES if "HPROF_GEN" in os.environ else FILES - GENERATED)
    assert any("/libhprof." in name for name in names)


def test_packages_of_another_prefix_are_refused(tmp_path: Path) -> None:
    """Their files would be in other folders than those that Debian's policy names."""
    command: list[str | Path] = ["cpack", "-G", "DEB", "-B", tmp_path]
    done = subprocess.run(command, cwd=os.environ["HPROF_BUILD"], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "Debian packages need a build with -DCMAKE_INSTALL_PREFIX=/usr" in " ".join(done.stderr.split())


def libraries(prefix: Path) -> dict[str, str]:
    """Where the library is. lib/hprof has the agent, whose name is the same."""
    (library,) = {file.parent for file in prefix.glob("lib*/**/libhprof.*") if file.parent.name != "hprof"}
    return {"LD_LIBRARY_PATH": str(library)}


def check_program(program: Path, prefix: Path, tmp_path: Path) -> None:
    dump = tmp_path / "dump.hprof"
    dump.write_bytes(ID_SIZE_3)
    done = subprocess.run([program, dump], env=os.environ | libraries(prefix), stdout=subprocess.PIPE, text=True, check=False)
    assert done.stdout.startswith("HDR-004 at 0x13: ")
    assert done.returncode == 1


def test_tool(prefix: Path) -> None:
    assert run(prefix / "bin" / "hprof-validate", "--version").startswith("hprof-validate ")


def test_hprof_ascii_runs_where_it_is_installed(prefix: Path, tmp_path: Path) -> None:
    """With its own modules alone, and it leaves nothing beside them."""
    tool = prefix / "bin/hprof-ascii"
    before = sorted(prefix.rglob("*"))
    assert run(tool, "--version").startswith("hprof-ascii ")
    (tmp_path / "bad.txt").write_text("no text of the agent\n")
    done = subprocess.run([tool, "check", tmp_path / "bad.txt"], stdout=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1].split(": ")[1]) == (1, "invalid")
    assert sorted(prefix.rglob("*")) == before


def test_documents_lead_to_each_other(prefix: Path) -> None:
    documents = list((prefix / "share/doc/hprof").rglob("*.md"))
    assert len(documents) == 7
    names = "|".join(document.name for document in documents)
    for document in documents:
        links = re.findall(rf"(?:\]\(|\]: )([^)\s#]*\b(?:{names}))\b", document.read_text(encoding="utf-8"))
        assert links, document
        assert [link for link in links if not (document.parent / link).is_file()] == [], document


def test_links_of_a_build_lead_to_its_address(prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.hprof").write_bytes(ID_SIZE_3)
    tool: list[str | Path] = [prefix / "bin/hprof-validate", "--format=sarif", tmp_path / "bad.hprof"]
    done = subprocess.run(tool, stdout=subprocess.PIPE, text=True, check=False)
    rules = json.loads(done.stdout)["runs"][0]["tool"]["driver"]["rules"]
    links = {rule["id"]: rule.get("helpUri") for rule in rules}
    assert links["HDR-004"] == (f"{SPEC_URL}#hdr-004" if prefix.name.startswith("shared") else None)


def test_cmake_package(prefix: Path, tmp_path: Path) -> None:
    configure(CONSUMER, tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path)
    check_program(tmp_path / "check", prefix, tmp_path)
    assert "HDR-001\n" in run(tmp_path / "rules", **libraries(prefix))


def test_pkg_config(prefix: Path, pkg_config: dict[str, str], tmp_path: Path) -> None:
    flags = shlex.split(run("pkg-config", "--cflags", "--libs", "hprof", **pkg_config))
    program = tmp_path / "check"
    run(CC, *shlex.split(C_FLAGS), "-o", program, CONSUMER / "check.c", *flags)
    check_program(program, prefix, tmp_path)


def test_version_is_the_same_everywhere(prefix: Path, pkg_config: dict[str, str]) -> None:
    version = run("pkg-config", "--modversion", "hprof", **pkg_config).strip()
    assert f'#define HPROF_VERSION "{version}"\n' in (prefix / "include/hprof/hprof.h").read_text()


@pytest.mark.parametrize("header", ["hprof.h", "read.h"])
@pytest.mark.parametrize("language", ["c -std=c99", "c -std=c17", "c++ -std=c++11", "c++ -std=c++20"])
def test_header_alone(prefix: Path, language: str, header: str) -> None:
    strict: list[str | Path] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-I", prefix / "include"]
    run(CC, "-x", *language.split(), *strict, prefix / "include/hprof" / header)


def test_shared_library_shows_the_header_only(prefix: Path) -> None:
    for library in Path(libraries(prefix)["LD_LIBRARY_PATH"]).glob("libhprof.so"):
        symbols = [line.split()[-1] for line in run("nm", "--dynamic", "--defined-only", library).splitlines()]
        assert symbols and all(symbol.startswith("hprof_") for symbol in symbols)
