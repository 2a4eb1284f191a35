"""ci/site fails when a link leads nowhere."""

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
    for name in ("mistakes.md", "hprof-validate.md", "hprof-gen.md", "rules/index.md", "corpus.md"):
        site.write(name, "# A page\n")
    site.write("index.md", text)
    configuration = site.CONFIGURATION.format(site=site.HOME / "site", address="''")
    status: int = site.run_mkdocs(configuration, "build", "--strict")
    return status


def test_a_link_that_leads_somewhere(site: ModuleType) -> None:
    assert build(site, "# Home\n\n[rules](rules/index.md) [here](#home)\n") == 0


@pytest.mark.parametrize("link", LINKS)
def test_a_dead_link_is_an_error(site: ModuleType, link: str) -> None:
    assert build(site, f"# Home\n\n{link}\n") != 0
