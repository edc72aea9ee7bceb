"""Names that are no identifiers: of functions, arguments, keys, scopes and files."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import dovetail
import dovetail.numpy as jnp
from dovetail.experimental import checkify

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


class Doubled:
    """Something that can be called, with attributes for purposes of its own."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)

    def __call__(self, x):
        return jnp.sin(x) * 2


class Anything(Doubled):
    """It has every attribute, as objects that stand for others do."""

    def __getattr__(self, name):
        return self


CALLABLES = {
    "nameless": Doubled(),
    "none": Doubled(__name__=None),
    "number": Doubled(__name__=3, __qualname__=4, __annotations__=5, __doc__=6),
    "array": Doubled(__name__=np.arange(3)),
    "anything": Anything(),
    "partial": functools.partial(lambda a, x: jnp.sin(x) * a, 2.0),
    "partial of nameless": functools.partial(functools.partial(Doubled(__name__=3))),
}
ONES = np.ones(2, np.float32)
USES = {
    "jit": lambda f: dovetail.jit(f)(1.0),
    "static": lambda f: dovetail.jit(f, static_argnums=0)(1.0),
    "donating": lambda f: dovetail.jit(f, donate_argnums=0)(jnp.ones(())),
    "lower": lambda f: dovetail.jit(f).lower(1.0).compile()(1.0),
    "vmap": lambda f: dovetail.vmap(f)(ONES)[0],
    "grad": lambda f: dovetail.value_and_grad(f)(1.0)[0] + 0 * dovetail.grad(f)(1.0),
    "jacobians": lambda f: dovetail.jit(f)(1.0) + 0 * dovetail.hessian(f)(1.0),
    "all": lambda f: f(1.0) + 0 * dovetail.jit(dovetail.vmap(dovetail.grad(f)))(ONES)[0],
    "checkpoint": lambda f: dovetail.checkpoint(f)(1.0),
    "closure": lambda f: dovetail.closure_convert(f, 1.0)[0](1.0),
    "custom_vjp": lambda f: dovetail.custom_vjp(f).__wrapped__(1.0),
    "vectorize": lambda f: jnp.vectorize(f)(ONES)[0],
    "make_jaxpr": lambda f: dovetail.jit(f)(1.0) + 0 * len(str(dovetail.make_jaxpr(f)(1.0))),
    "named_call": lambda f: dovetail.named_call(f)(1.0),
    "checkify": lambda f: checkify.checkify(f)(1.0)[1],
    "cond": lambda f: dovetail.lax.cond(True, f, f, 1.0),
}  # fmt: skip


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", CALLABLES)
def test_of_what_can_be_called(kind, use):
    np.testing.assert_allclose(USES[use](CALLABLES[kind]), 2 * np.sin(1.0), rtol=1e-6)


def test_what_can_be_called_goes_by_its_class_where_its_name_is_none():
    with pytest.raises(TypeError, match=r"jit of Doubled: args\[0\]"):
        dovetail.jit(Doubled(__name__=3))("s")
    with pytest.raises(ValueError, match="vmap of Anything: in_axes"):
        dovetail.vmap(Anything())(1.0)
    assert dovetail.grad(Doubled(__name__=3)).__name__ == "Doubled"
    assert dovetail.grad(function("f")).__name__ == "f"
