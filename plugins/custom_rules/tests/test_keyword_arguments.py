"""Keyword-only arguments of functions with custom rules: they keep the values that they have."""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp


def _scaled(x: Any, y: Any, *, a: float = 0.5) -> Any:
    return x * x + a * y


def _summed(x: Any, *ys: Any, a: float = 2.0) -> Any:
    return x * x * a + sum(ys)


def _with_rules(f: Any, names: tuple[str, ...] = ()) -> dict[str, Any]:
    """``f`` with rules that say ten times its slope in its first argument."""
    jvp = dt.custom_jvp(f, nondiff_argnames=names)
    jvp.defjvp(lambda p, t: (jvp(*p), 20 * p[0] * t[0]))
    vjp = dt.custom_vjp(f, nondiff_argnames=names)
    vjp.defvjp(
        lambda *p: (vjp(*p), p), lambda p, g: (20 * p[0] * g, *[dnp.zeros_like(x) for x in p[1:]])
    )
    return {"jvp": jvp, "vjp": vjp}


@pytest.mark.parametrize("kind", ["jvp", "vjp"])
@pytest.mark.parametrize(
    ("f", "args", "value"),
    [
        (_scaled, (3.0, 2.0), 10.0), (partial(_scaled, a=0.25), (3.0, 2.0), 9.5),
        (partial(_scaled, y=4.0), (3.0,), 11.0), (partial(_scaled, a=1.0, y=4.0), (3.0,), 13.0),
        (_summed, (3.0, 1.0, 2.0), 21.0), (partial(_summed, a=1.0), (3.0, 1.0), 10.0),
        (lambda x, **more: x * x + len(more), (3.0,), 9.0),
    ],
)  # fmt: skip
def test_keyword_only_arguments_with_values_are_the_functions_own(
    f: Any, args: Any, value: float, kind: str
) -> None:
    for names in ((), ("a",)):
        if names and "a" not in inspect.signature(f).parameters:
            continue
        g = _with_rules(f, names)[kind]
        for call in (g, dt.jit(g), dt.checkpoint(g)):
            assert call(*args) == value
            assert dt.grad(call)(*args) == 60.0 and dt.jit(dt.grad(call))(*args) == 60.0
            xs, rest = dnp.full(2, args[0]), (None,) * (len(args) - 1)
            np.testing.assert_array_equal(
                dt.vmap(dt.grad(call), (0, *rest))(xs, *args[1:]), [60, 60]
            )


def test_keyword_only_arguments_in_a_rule_of_batching() -> None:
    for f, value in ((_scaled, 0.5), (partial(_scaled, a=0.25), 0.25)):
        g = dt.custom_batching.custom_vmap(f)
        g.def_vmap(lambda size, batched, x, y: (100 * x + y, True))
        assert g(3.0, 2.0) == 9 + 2 * value and dt.jit(g)(3.0, 2.0) == 9 + 2 * value
        np.testing.assert_array_equal(dt.vmap(g, (0, None))(dnp.ones(2), 2.0), [102, 102])


def test_a_keyword_only_argument_that_a_call_gives_is_refused() -> None:
    for g in (*_with_rules(_scaled).values(), *_with_rules(partial(_scaled, a=1.0)).values()):
        text = r"the keyword-only argument 'a' has no position, .* at .*Make it positional, or give"
        with pytest.raises(TypeError, match=text + r" it its value before, by functools\.partial"):
            g(1.0, 2.0, a=3.0)


def test_positions_from_the_end_do_not_count_keyword_only_arguments() -> None:
    f = dt.custom_jvp(_scaled, nondiff_argnums=(-1,))
    f.defjvp(lambda y, p, t: (f(p[0], y), y * t[0]))
    assert f.nondiff_argnums == (1,)
    assert dt.grad(f)(3.0, 7.0) == 7.0


def test_jit_takes_keyword_only_arguments_as_static_ones() -> None:
    for f in (_scaled, partial(_scaled, a=0.25)):
        g = dt.jit(f, static_argnames="a")
        assert g(3.0, 2.0) == f(3.0, 2.0) and g(3.0, 2.0, a=1.0) == 11.0
        assert dt.grad(g)(3.0, 2.0, a=1.0) == 6.0
