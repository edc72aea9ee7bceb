"""Modules of a facade: their names come from the kernel and from manifests, on first use."""

from __future__ import annotations

import sys

import pytest

from dovetail_core import RegistryError, names_of, registry, typeof
from dovetail_tree import util as tree_util

MODULE = "from dovetail_core import surface\n__getattr__, __dir__ = surface(__name__)\n"
API = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from .functions import sin as sin
    from . import linalg as linalg
else:
    from dovetail_core import lazy_exports
    __getattr__, __dir__ = lazy_exports(__name__)
"""


@pytest.fixture
def shop(site):
    """A facade ``shop`` with the modules ``shop.np`` and ``shop.np.linalg``, and a plugin."""
    site.module("shop.np.linalg", MODULE)
    for package in ("shop", "shop/np"):
        (site.path / package / "__init__.py").write_text(MODULE)
    site.module("acme_np.functions", "def sin(): return 'sin'\n")
    site.module("acme_np.linalg", "__all__ = ['norm']\ndef norm(): return 'norm'\nhidden = 1\n")
    (site.path / "acme_np" / "__init__.py").write_text(API)
    site.module("acme_api", "def vmap(): return 'vmap'\ndef root(): return 'root'\n")
    site.plugin(
        "acme",
        "names={'vmap': 'acme_api:vmap', 'np.root': 'acme_api:root'}, surfaces="
        "{'np': 'acme_np', 'np.linalg': 'acme_np.linalg', 'np.more': 'acme_api', "
        "'own': 'acme_api'}",
        distribution="shop",
    )
    import shop

    return shop


def test_names_load_on_first_use_and_are_attributes_then(shop):
    assert "acme_api" not in sys.modules
    assert shop.vmap() == "vmap" and vars(shop)["vmap"] is shop.vmap
    assert "acme_np.functions" not in sys.modules
    assert shop.np.sin() == "sin" and vars(shop.np)["sin"] is shop.np.sin


def test_the_kernel_gives_names_and_surfaces(shop):
    assert shop.typeof is typeof
    assert shop.tree_util is tree_util  # this facade has no module of that name


def test_a_surface_is_the_facades_module_where_it_has_one(shop):
    assert shop.np is sys.modules["shop.np"]
    assert shop.np.linalg is sys.modules["shop.np.linalg"] and shop.np.linalg.norm() == "norm"
    assert shop.own is shop.np.more is sys.modules["acme_api"]


def test_a_module_of_the_facade_that_does_not_import_says_why(shop, site):
    site.module("shop.own", "import nowhere_at_all\n")
    with pytest.raises(ModuleNotFoundError, match="nowhere_at_all"):
        shop.own  # noqa: B018


def test_a_plugin_adds_a_name_to_a_surface_of_another(shop, site):
    site.plugin("more", "names={'np.vmap': 'acme_api:vmap'}")
    assert shop.np.root() == "root" and shop.np.vmap() == "vmap"


CLAIMED = (
    "is claimed by {} and by plugin 'more' of more-dist 1.0. Disable one of the plugins "
    "(DOVETAIL_DISABLE_PLUGINS) or rename the entry."
)


def test_a_name_that_two_have_is_an_error_that_names_both(shop, site):
    site.plugin("more", "names={'np.sin': 'acme_api:vmap'}")
    with pytest.raises(RegistryError) as e:
        shop.np.sin  # noqa: B018
    assert str(e.value) == "shop.np.sin " + CLAIMED.format("plugin 'acme' of shop 1.0")
    assert shop.np.__all__.count("sin") == 1


def test_the_kernel_keeps_its_names(shop, site):
    site.plugin("more", "names={'typeof': 'acme_api:vmap'}")
    with pytest.warns(RuntimeWarning) as caught:
        assert shop.typeof is typeof
    said = "shop.typeof " + CLAIMED.format("the kernel")
    assert [str(w.message) for w in caught] == [f"{said} The first of them has it."]


@pytest.mark.parametrize("source", ["1 / 0", "__all__ = 3", "raise SystemExit"])
def test_a_plugin_whose_surface_does_not_work_takes_no_name_away(shop, site, source):
    site.plugin("more", "surfaces={'': 'more_api'}")
    site.module("more_api", source)
    with pytest.warns(RuntimeWarning, match="surfaces of plugin 'more' of more-dist 1.0"):
        assert shop.typeof is typeof


def test_all_names_are_listed(shop):
    assert shop.np.__all__ == ["linalg", "more", "root", "sin"]
    assert [n for n in dir(shop.np) if n[0] != "_"] == shop.np.__all__
    assert shop.np.linalg.__all__ == ["norm"]
    assert {"np", "own", "vmap", "typeof", "errors"} <= set(shop.__all__)
    assert not {"root", "np.root", "np.linalg"} & set(dir(shop))
    space = {}
    exec("from shop.np import *", space)
    assert space["sin"] is shop.np.sin and space["linalg"] is shop.np.linalg


def test_names_that_are_not_there(shop):
    for module, name in ((shop, "nonsense"), (shop, "_private"), (shop.np.linalg, "hidden")):
        with pytest.raises(AttributeError) as e:
            getattr(module, name)
        assert str(e.value) == f"module {module.__name__!r} has no attribute {name!r}"
    assert shop.np.__all__ == ["linalg", "more", "root", "sin"]


def test_probing_for_private_names_reads_no_entry_point(shop, monkeypatch):
    monkeypatch.setattr(sys.modules["dovetail_surface"], "registry", None)
    assert not hasattr(shop, "__wrapped__")


def test_a_name_of_a_disabled_plugin_that_came_with_the_facade(shop, monkeypatch):
    monkeypatch.setenv("DOVETAIL_DISABLE_PLUGINS", "acme")
    import shop.np

    for module, name in ((shop, "vmap"), (shop, "np"), (shop.np, "sin"), (shop.np, "root")):
        vars(module).pop(name, None)
        with pytest.raises(AttributeError) as e:
            getattr(module, name)
        assert str(e.value) == (
            f"{module.__name__}.{name} comes from the plugin 'acme', which is disabled "
            "(DOVETAIL_DISABLE_PLUGINS)"
        )


def test_a_name_that_somebody_elses_disabled_plugin_may_provide(shop, site, monkeypatch):
    # A disabled plugin is not imported, so that nobody knows its names.
    site.plugin("more", "names={'extra': 'acme_api:vmap'}")
    monkeypatch.setenv("DOVETAIL_DISABLE_PLUGINS", "more")
    with pytest.raises(AttributeError) as e:
        shop.extra  # noqa: B018
    assert str(e.value) == (
        "module 'shop' has no attribute 'extra'. Perhaps a plugin provides it that is not active: "
        "more (disabled (DOVETAIL_DISABLE_PLUGINS))"
    )
    assert "more_plugin" not in sys.modules


def test_a_name_of_a_plugin_that_was_set_aside_says_why(shop, site):
    site.plugin("more", "names={'extra': 'acme_api:vmap'}, requires=('zip',)")
    with pytest.warns(RuntimeWarning, match="zip"):
        registry()
    with pytest.raises(AttributeError) as e:
        shop.extra  # noqa: B018
    assert str(e.value) == (
        "shop.extra comes from the plugin 'more', which is set aside: needs plugin 'zip', "
        "which is not installed"
    )


def test_a_manifest_takes_the_names_of_a_module(shop):
    assert names_of("acme_np") == {"linalg": "acme_np:linalg", "sin": "acme_np:sin"}
    assert "acme_np.functions" not in sys.modules
