"""Names that are no identifiers: of functions, arguments, keys, scopes and files."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail
import dovetail.numpy as jnp

NAMES = [
    "é",
    "日本",
    "a b",
    'a"b',
    "a\nb",
    "a\0b",
    "\ud800",
    "1x",
    "",
    "%",
    "a\\",
    "</x>",
    "x" * 300,
]


@pytest.fixture(params=NAMES, ids=ascii)
def name(request):
    return request.param


def function(name):
    def f(x):
        return jnp.sin(x) * 2

    f.__name__ = f.__qualname__ = name
    return f


def test_of_functions(name):
    f = dovetail.jit(function(name))
    assert float(f(0.0)) == 0.0
    for debug_info in (False, True):
        assert "sine" in f.lower(0.0).as_text(debug_info=debug_info)
    assert float(f.lower(0.0).compile()(0.0)) == 0.0
    assert float(dovetail.grad(f)(0.0)) == 2.0
    inner = dovetail.jit(lambda x: f(x) + 1)
    assert float(inner(0.0)) == 1.0 and "sine" in inner.lower(0.0).as_text(debug_info=True)


def test_of_arguments_and_keys(name):
    f = dovetail.jit(lambda **kw: next(iter(kw.values())) * 2)
    assert float(f(**{name: 3.0})) == 6.0
    assert "multiply" in f.lower(**{name: 3.0}).as_text(debug_info=True)
    g = dovetail.jit(lambda d: d[name] * 2)
    assert float(g({name: 3.0})) == 6.0
    assert "multiply" in g.lower({name: 3.0}).as_text(debug_info=True)


def test_of_scopes_and_files(name):
    space = {"jnp": jnp}
    if "\0" not in name and "\ud800" not in name:
        exec(compile("def h(x):\n    return jnp.sin(x) + jnp.cos(x)", name, "exec"), space)
        h = dovetail.jit(space["h"])
        assert float(h(0.0)) == 1.0 and "sine" in h.lower(0.0).as_text(debug_info=True)

    def scoped(x):
        with dovetail.named_scope(name):
            return jnp.sin(x)

    assert "sine" in dovetail.jit(scoped).lower(0.0).as_text(debug_info=True)
    mapped = dovetail.vmap(lambda x: dovetail.lax.psum(x, name), axis_name=name)
    np.testing.assert_array_equal(dovetail.jit(mapped)(jnp.ones(3)), 3.0)
