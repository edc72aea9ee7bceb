"""The array operations that transformations ask for."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail_core import AbstractValue, PluginError, ShapedArray, algebra, register_type
from dovetail_core.types.algebra import add_tangents, zeros_like_aval
from dovetail_testing import fresh_registry

F32 = ShapedArray((2,), np.float32)


def test_the_provider_is_asked_once(site):
    site.plugin("acme", "providers={'algebra': 'acme_algebra:ALGEBRA'}")
    site.module(
        "acme_algebra",
        "import numpy as np\n\n\nclass ALGEBRA:\n"
        "    full = staticmethod(lambda aval, v: np.full(aval.shape, v, aval.dtype))\n"
        "    add = staticmethod(np.add)\n",
    )
    assert algebra() is algebra()
    np.testing.assert_array_equal(
        add_tangents(zeros_like_aval(F32), np.ones(2, np.float32)), [1, 1]
    )


def test_an_error_without_a_provider(site):
    with pytest.raises(PluginError, match="no active plugin provides 'algebra'"):
        algebra()


def test_another_registry_is_asked_for_its_own(site):
    """Also where a provider was asked before, and again when the other registry is gone."""
    for name in ("outer", "inner"):
        site.module(f"{name}_algebra", f"class ALGEBRA:\n    name = {name!r}\n")
    site.plugin("outer", "providers={'algebra': 'outer_algebra:ALGEBRA'}")
    assert algebra().name == "outer"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOVETAIL_DISABLE_PLUGINS", "outer")
        site.plugin("inner", "providers={'algebra': 'inner_algebra:ALGEBRA'}")
        with fresh_registry():
            assert algebra().name == "inner"
    assert algebra().name == "outer"


def test_other_types_bring_their_own_zero_and_sum():
    class Thing:
        pass

    class ThingType(AbstractValue):
        def make_zero(self):
            return Thing()

        def add_tangents(self, x, y):
            return "sum"

    register_type(Thing, lambda x: ThingType())
    assert isinstance(zeros_like_aval(ThingType()), Thing)
    assert add_tangents(Thing(), Thing()) == "sum"
