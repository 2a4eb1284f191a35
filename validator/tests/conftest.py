"""For all tests here: a directory with dumps, and helpers whose failed assertions pytest explains like those of tests."""

import gzip
from pathlib import Path

import pytest
from dumps import DUPLICATE, TRUNCATED, VALID, WARNING, dangling

pytest.register_assert_rewrite("tool", "hostile_shapes")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A directory with a dump of each kind."""
    (tmp_path / "valid").write_bytes(VALID)
    (tmp_path / "duplicate").write_bytes(DUPLICATE)
    (tmp_path / "warning").write_bytes(WARNING)
    (tmp_path / "truncated").write_bytes(TRUNCATED)
    (tmp_path / "dangling").write_bytes(dangling(30))
    (tmp_path / "valid.gz").write_bytes(gzip.compress(VALID))
    return tmp_path
