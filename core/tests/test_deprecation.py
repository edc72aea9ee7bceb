"""What goes is said to go: by whom it is used, when it goes, what to use instead."""

from __future__ import annotations

import warnings

import pytest

import dovetail_core
from dovetail_core import deprecated, registry, renamed
from dovetail_core.registry import discovery


def cost_of(x):
    deprecated("acme.cost_of", "acme.price_of", "acme 2.0")
    return x


def test_the_warning_names_both_and_the_version_at_the_users_line():
    said = r"^acme\.cost_of is deprecated and goes in acme 2\.0\. Use acme\.price_of instead\.$"
    with pytest.warns(DeprecationWarning, match=said) as caught:
        assert cost_of(3) == 3
    assert caught[0].filename == __file__


SHOP = """
from dovetail_core import renamed
price_of = 3
def _get(name):
    raise AttributeError(f"no {name}")
__getattr__ = renamed(__name__, {"cost_of": ("price_of", "shop 2.0")}, _get)
"""


def test_an_old_name_of_a_module_is_the_new_one_and_warns(site):
    site.module("shop", SHOP)
    import shop

    said = r"^shop\.cost_of is deprecated and goes in shop 2\.0\. Use shop\.price_of instead\.$"
    with pytest.warns(DeprecationWarning, match=said) as caught:
        assert shop.cost_of == 3
    assert caught[0].filename == __file__
    with pytest.warns(DeprecationWarning, match=said) as caught:
        from shop import cost_of
    assert cost_of == 3 and caught[0].filename == __file__
    with pytest.raises(AttributeError, match="no other"):
        shop.other  # noqa: B018


def test_old_names_of_the_kernel(monkeypatch):
    monkeypatch.setitem(dovetail_core._OLD_NAMES, "Atoms", ("Atom", "dovetail-core 9.0"))
    said = r"^dovetail_core\.Atoms is deprecated and goes in dovetail-core 9\.0\."
    with pytest.warns(DeprecationWarning, match=said):
        assert dovetail_core.Atoms is dovetail_core.Atom
    assert "Atoms" not in dovetail_core.__all__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert renamed("shop", {}, str.upper)("x") == "X"


@pytest.mark.parametrize(("high", "works"), [(0, False), (1, True), (2, True)])
def test_plugins_for_an_older_interface_work_while_it_is_supported(
    site, monkeypatch, recwarn, high, works
):
    monkeypatch.setattr(discovery, "KERNEL_API", 2)
    monkeypatch.setattr(discovery, "OLDEST_KERNEL_API", 1)
    site.plugin("old", f"api=(0, {high})")
    assert ("old" in registry().active) == works
    said = f"works with kernel API 0 to {high}, this is 1 to 2: upgrade old-dist"
    assert works or registry().plugins["old"].problem == said
