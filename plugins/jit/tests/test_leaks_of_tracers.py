"""The option check_tracer_leaks: what is kept is found and named; what is not is not."""

import gc

import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_ad import grad, hessian, jvp, vjp
from dovetail_base.options import check_tracer_leaks, checking_leaks
from dovetail_batching import vmap
from dovetail_core import UnexpectedTracerError
from dovetail_core.dispatch import primitive
from dovetail_jit import jit
from dovetail_remat import checkpoint

KEPT: list = []
TRANSFORMATIONS = {
    "jit": lambda f: jit(f)(1.0),
    "grad": lambda f: grad(f)(1.0),
    "jvp": lambda f: jvp(f, (1.0,), (1.0,)),
    "vjp": lambda f: vjp(f, 1.0),
    "vmap": lambda f: vmap(f)(dnp.ones(3)),
    "scan": lambda f: lax.scan(lambda c, _: (f(c), None), 1.0, None, length=2),
    "jit of grad": lambda f: jit(grad(f))(1.0),
    "hessian": lambda f: hessian(f)(1.0),
}


@pytest.fixture(autouse=True)
def _nothing_kept():
    yield
    KEPT.clear()


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_what_is_kept_is_named(name):
    def f(x):
        KEPT.append(dnp.sin(x))
        return x * 2

    held = "item 0 of a list, global variable 'KEPT' of module"
    with checking_leaks(), pytest.raises(UnexpectedTracerError, match=held) as e:
        TRANSFORMATIONS[name](f)
    assert "is kept after its end" in str(e.value)
    assert "(option check_tracer_leaks)" in str(e.value)


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_nothing_is_found_where_nothing_is_kept(name):
    def f(x):
        y = checkpoint(dnp.sin)(x)
        y = lax.cond(y > 0, dnp.cos, dnp.exp, y)
        return lax.fori_loop(0, 3, lambda i, c: c * y, x)

    with checking_leaks():
        TRANSFORMATIONS[name](f)


def test_nothing_is_searched_where_all_traces_have_died(monkeypatch):
    collected = []
    real = gc.collect
    monkeypatch.setattr(gc, "collect", lambda *g: collected.append(g) or real(*g))
    f = lambda x: lax.fori_loop(0, 3, lambda i, c: c * dnp.sin(x), x)  # noqa: E731
    with checking_leaks():
        for transformed in TRANSFORMATIONS.values():
            transformed(f)
    assert not collected


class Model:
    """Holds what it should not."""

    last = None


def _in_an_attribute(model):
    def f(x):
        model.last = x + 1
        return x

    return f


def _in_a_dict(model):
    def f(x):
        KEPT.append({"a": (x,)})
        return x

    return f


def _in_a_closure(model):
    z = None

    def f(x):
        nonlocal z
        z = x * 2
        return x

    KEPT.append(lambda: z)
    return f


@pytest.mark.parametrize(
    "make, holder",
    [
        (_in_an_attribute, "attribute 'last' of an object of class Model"),
        (_in_a_dict, "item 0 of a tuple, under key 'a' of a dict, item 0 of a list, global var"),
        (_in_a_closure, "variable 'z' that _in_a_closure.<locals>.f closes over"),
    ],
)
def test_holders(make, holder):
    model = Model()
    with check_tracer_leaks(True), pytest.raises(UnexpectedTracerError) as e:
        jit(make(model))(1.0)
    assert holder in str(e.value)


def test_only_new_leaks_are_told_of():
    with check_tracer_leaks():
        with pytest.raises(UnexpectedTracerError):
            jit(_in_an_attribute(model := Model()))(1.0)
        assert jit(lambda x: x + 1)(1.0) == 2
    assert model.last is not None


def test_nothing_is_remembered_of_traces_that_have_died():
    with check_tracer_leaks(True):
        jit(lambda x: x + 1)(1.0)
    gc.collect()
    assert primitive.watched is not None
    before = len(primitive.watched)
    for _ in range(20):
        grad(lambda x: x * x)(1.0)
    gc.collect()
    assert len(primitive.watched) <= before
