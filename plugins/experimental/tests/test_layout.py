"""Layouts within programs: what is asked for, and that values stay the same."""

from __future__ import annotations

import re

import numpy as np
import pytest

from dovetail import grad, jit, jvp, numpy as dnp, vmap
from dovetail.experimental.layout import Format, Layout, with_layout_constraint
from dovetail_experimental.primitives import layout_constraint_p

X = np.arange(6, dtype=np.float32).reshape(2, 3)
TURNED = Layout(major_to_minor=(1, 0))


def layouts(f, *args):
    """The layouts of results of constraints in the module, the fastest axis first."""
    text = jit(f).lower(*args).as_text()
    return re.findall(r"@LayoutConstraint.*result_layouts = \[dense<(.*?)> :", text)


def turned(x):
    return with_layout_constraint(x * x, TURNED)


def test_values_and_layouts():
    for f in (turned, jit(turned)):
        np.testing.assert_array_equal(f(X), X * X)
    assert layouts(turned, X) == ["[0, 1]"]
    hlo = jit(lambda x: turned(x) + 1).lower(X).compile().as_text()
    assert "f32[2,3]{0,1}" in hlo


def test_transformations():
    np.testing.assert_array_equal(grad(lambda x: turned(x).sum())(X), 2 * X)
    assert layouts(grad(lambda x: (turned(x) * 3.0).sum()), X) == ["[0, 1]"]
    np.testing.assert_array_equal(jvp(turned, (X,), (X,))[1], 2 * X * X)
    xs = np.stack([X, X + 1])
    for axis in (0, 1, 2):
        mapped = vmap(turned, axis, axis)
        moved = np.moveaxis(xs, 0, axis)
        np.testing.assert_array_equal(mapped(moved), moved**2)
    assert layouts(vmap(turned), xs) == ["[1, 2, 0]"]
    assert layouts(vmap(turned, 2, 2), np.moveaxis(xs, 0, 2)) == ["[0, 1, 2]"]


def test_pytrees():
    tree = {"a": X, "b": (X[0],)}
    f = lambda t: with_layout_constraint(t, {"a": TURNED, "b": (Layout((0,)),)})  # noqa: E731
    np.testing.assert_array_equal(f(tree)["b"][0], X[0])
    assert layouts(f, tree) == ["[0, 1]", "0"]
    assert len(layouts(lambda t: with_layout_constraint(t, TURNED), [X, X])) == 2


def test_formats_of_compiled_programs():
    compiled = jit(lambda x: dnp.sin(x)).lower(X).compile()
    ((result,), _), out = compiled.input_formats, compiled.output_formats
    assert isinstance(result, Format) and result.layout == out.layout == Layout((0, 1))


def test_errors():
    place = r"with_layout_constraint at .*test_layout\.py"
    with pytest.raises(
        ValueError, match=rf"{place}.*: major_to_minor is \(0, 0\), and .* f32\[2,3\]; li"
    ):
        with_layout_constraint(X, Layout((0, 0)))
    with pytest.raises(TypeError, match=rf"{place}.*: a layout is of type str; give Layout\("):
        with_layout_constraint([X], ["row-major"])
    with pytest.raises(ValueError, match=r"layouts have the structure .*; give one layout, or one"):
        with_layout_constraint([X, X], [TURNED])


def test_an_order_of_other_axes_is_no_operation():
    for x, order in ((X[0, 0], (0, 1)), (X, (0,)), (X, (1, 1)), (X, ())):
        with pytest.raises(TypeError, match=r"layout_constraint takes an order of the axes of f32"):
            layout_constraint_p.bind(x, major_to_minor=order)
    np.testing.assert_array_equal(layout_constraint_p.bind(X[0, 0], major_to_minor=()), X[0, 0])
