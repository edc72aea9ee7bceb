"""Packages whose public names load on first use."""

from __future__ import annotations

import sys

import pytest


def test_names_and_submodules_load_on_first_use(site):
    site.module("lazy_pkg.inner", "VALUE = 3\n")
    site.module("lazy_pkg.plain", "")
    (site.path / "lazy_pkg" / "__init__.py").write_text(
        "from dovetail_core.base.lazy import lazy_exports\n"
        "__getattr__ = lazy_exports(__name__, {'VALUE': 'inner', 'plain': '', 'other': ':plain'})\n"
    )
    import lazy_pkg

    assert "lazy_pkg.inner" not in sys.modules
    assert lazy_pkg.VALUE == 3 and vars(lazy_pkg)["VALUE"] == 3
    assert lazy_pkg.plain is lazy_pkg.other is sys.modules["lazy_pkg.plain"]
    with pytest.raises(AttributeError, match="module 'lazy_pkg' has no attribute 'nonsense'"):
        lazy_pkg.nonsense  # noqa: B018


def test_the_kernels_own_late_names():
    import dovetail_core

    assert dovetail_core.print_ir.__module__ == "dovetail_core.text.printer"
    assert dovetail_core.parse_ir.__module__ == "dovetail_core.text.parser"
    with pytest.raises(AttributeError, match="module 'dovetail_core' has no attribute 'nonsense'"):
        dovetail_core.nonsense  # noqa: B018
