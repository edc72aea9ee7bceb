"""Modules that list names, each loaded on first use."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import pytest

from dovetail_base.lazy import import_part

HEAD = """
from __future__ import annotations
import os.path as path
from typing import TYPE_CHECKING
if TYPE_CHECKING:
"""
TAIL = """
else:
    from dovetail_core import lazy_exports
    __getattr__, __dir__ = lazy_exports(__name__)
"""


@pytest.fixture
def package(site):
    """A package that lists names of its modules, and one module in it that lists more."""
    site.module("lazy_pkg.inner", "VALUE, OTHER = 3, 4\n")
    site.module("lazy_pkg.plain", "")
    listed = """
    from collections import OrderedDict as OrderedDict

    from . import plain as plain
    from . import plain as renamed
    from .inner import OTHER as FOUR, VALUE as VALUE
"""
    (site.path / "lazy_pkg" / "__init__.py").write_text(HEAD + listed + TAIL)
    more = (
        "    from . import *\n    from . import deep as deep\n    from .inner import OTHER as OTHER"
    )
    site.module("lazy_pkg.more", HEAD + more + TAIL)
    site.module("lazy_pkg.deep", "")
    import lazy_pkg

    return lazy_pkg


def test_names_and_submodules_load_on_first_use_and_are_attributes_then(package):
    assert "VALUE" in dir(package) and "lazy_pkg.inner" not in sys.modules
    assert package.VALUE == 3 and vars(package)["VALUE"] == 3
    assert package.FOUR == 4 and package.OrderedDict.__module__ == "collections"
    assert package.plain is package.renamed is sys.modules["lazy_pkg.plain"]


def test_all_of_the_listing_is_public_and_nothing_else(package):
    assert package.__all__ == ["FOUR", "OrderedDict", "VALUE", "plain", "renamed"]
    assert "OTHER" not in dir(package) and "__doc__" in dir(package)
    space = {}
    exec("from lazy_pkg import *", space)
    assert space["FOUR"] == 4


def test_a_module_lists_names_of_its_package(package):
    import lazy_pkg.more as more

    assert more.__all__ == sorted([*package.__all__, "OTHER", "deep"])
    assert more.OTHER == more.FOUR == 4 and vars(more)["FOUR"] == 4
    assert more.plain is sys.modules["lazy_pkg.plain"]
    assert more.deep is sys.modules["lazy_pkg.deep"]


def test_names_that_are_not_there(package):
    for name in ("nonsense", "OTHER", "__wrapped__"):
        with pytest.raises(AttributeError, match=f"module 'lazy_pkg' has no attribute '{name}'"):
            getattr(package, name)


def test_the_kernels_own_late_names():
    import dovetail_core

    assert {"parse_ir", "Primitive"} <= set(dir(dovetail_core))
    assert {"parse_ir", "Primitive"} <= set(dovetail_core.__all__)
    assert not {"late", "ir", "_shown", "__name__"} & set(dovetail_core.__all__)
    assert dovetail_core.print_ir.__module__ == "dovetail_text.printer"
    assert dovetail_core.parse_ir.__module__ == "dovetail_text.parser"
    with pytest.raises(AttributeError, match="module 'dovetail_core' has no attribute 'nonsense'"):
        dovetail_core.nonsense  # noqa: B018


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_is_not_looked_for_while_modules_load(
    collects: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"loads_{collects}"
    (tmp_path / f"{name}.py").write_text("import gc\nfound = gc.isenabled()\n")
    (tmp_path / f"fails_{collects}.py").write_text("import absent_module\n")
    monkeypatch.syspath_prepend(tmp_path)
    before = gc.isenabled()
    try:
        (gc.enable if collects else gc.disable)()
        assert import_part(name).found is False
        assert gc.isenabled() is collects
        with pytest.raises(ModuleNotFoundError):
            import_part(f"fails_{collects}")
        assert gc.isenabled() is collects
    finally:
        (gc.enable if before else gc.disable)()
