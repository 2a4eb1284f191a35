"""ci/site fails when a link leads nowhere, and keeps the anchors that SPEC.md once had."""

import re
import shutil
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

LINKS = ["[dead](#no-such-anchor)", "[dead](rules/index.md#no-such-anchor)", "[dead](no-such-page.md)", "[dead](/no/such/page.md)"]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The program, with folders of its own, but with the installed mkdocs."""
    loader = SourceFileLoader("site_program", str(Path(__file__).parent.parent / "site"))
    spec = spec_from_loader(loader.name, loader)
    assert spec
    module = module_from_spec(spec)
    loader.exec_module(module)
    programs = module.tool_environment()
    monkeypatch.setattr(module, "tool_environment", lambda: programs)
    monkeypatch.setattr(module, "HOME", tmp_path)
    monkeypatch.setattr(module, "PAGES", tmp_path / "pages")
    return module


def build(site: ModuleType, text: str) -> int:
    """The status of a site of a few pages."""
    shutil.rmtree(site.PAGES, ignore_errors=True)
    for name in (*site.PAGE_OF.values(), "mistakes.md", "rules/index.md", "corpus.md", "style.css", "iframe-worker.js", "check.md"):
        site.write(name, "# A page\n")
    site.write("index.md", text)
    return build_pages(site)


def build_pages(site: ModuleType) -> int:
    configuration = site.CONFIGURATION.format(site=site.HOME / "site", address="''")
    status: int = site.run_mkdocs(configuration, "build", "--strict")
    return status


def test_a_link_that_leads_somewhere(site: ModuleType) -> None:
    assert build(site, "# Home\n\n[rules](rules/index.md) [here](#home)\n") == 0


@pytest.mark.parametrize("link", LINKS)
def test_a_dead_link_is_an_error(site: ModuleType, link: str) -> None:
    assert build(site, f"# Home\n\n{link}\n") != 0


def ids(page: Path) -> set[str]:
    return set(re.findall(r'\bid="([^"]+)"', page.read_text(encoding="utf-8")))


def test_old_anchors_of_the_specification_are_kept(site: ModuleType) -> None:
    """In the page of SPEC.md; and the links after those that moved lead to a page that has the place."""
    build(site, "")
    site.write_specification()
    site.write_mistakes()
    site.write_corpus()
    for rule in {finding["rule"] for entry in site.corpus_files() for finding in entry["findings"]}:
        site.write(f"rules/{rule}.md", "# A page\n")
    assert build_pages(site) == 0
    index = site.HOME / "site/spec.html"
    list_of_anchors = site.ROOT / "validator/tests/spec-anchors.txt"
    old = {line for line in list_of_anchors.read_text().splitlines() if not line.startswith("#")}
    assert old
    assert old <= ids(index)
    moved = re.findall(r'<li><a id="([^"]+)"></a>.*?<a href="([^"#]+)#([^"]+)"', index.read_text(encoding="utf-8"))
    pages = {name.replace(".md", ".html") for name in site.DOCUMENTS.values()}
    assert {page for _, page, _ in moved} == pages - {"spec.html", "sources.html"}
    for anchor, page, fragment in moved:
        assert anchor in old
        assert fragment in ids(index.parent / page)


def test_the_pages_need_no_network(site: ModuleType) -> None:
    assert build(site, "# Home\n") == 0
    page = (site.HOME / "site/index.html").read_text(encoding="utf-8")
    loaded = re.findall(r'<(?:script|link|img)[^>]* (?:src|href)="(https?:[^"]*)"', page)
    assert loaded == []
    assert (site.HOME / "site/search/search_index.js").exists()


def test_each_file_of_the_corpus_has_its_text(site: ModuleType) -> None:
    build(site, "")
    site.write_corpus()
    table = (site.PAGES / "corpus.md").read_text(encoding="utf-8")
    for entry in site.corpus_files():
        assert f"](corpus/{entry['text']})" in table
        assert (site.PAGES / "corpus" / entry["text"]).exists()
