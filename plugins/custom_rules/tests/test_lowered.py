"""Functions with a lowering of their own: of one result or more, with a body or without."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail_core import MissingRule, RegistryError, ShapedArray
from dovetail_jit.options import interpret_first_calls

X = np.linspace(0.1, 1.0, 4, dtype=np.float32)


def no_body(*args: Any) -> Any:
    raise NotImplementedError("there is a kernel, and no body")


def cosine(b: Any, x: Any) -> Any:
    return b.op("stablehlo.cosine", [x], b.out)


@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: [x], lambda x: (x,)])
def test_a_lowering_returns_its_result_or_a_list(wrap: Any) -> None:
    f = dt.custom(lambda x: dnp.sin(x))
    f.def_lower(lambda b, x: wrap(cosine(b, x)))
    np.testing.assert_allclose(dt.jit(f)(X), np.cos(X), rtol=1e-6)
    np.testing.assert_allclose(f(X), np.cos(X), rtol=1e-6)
    looped = dt.jit(lambda x: dt.lax.scan(lambda c, _: (f(c), None), x, None, length=2)[0])
    np.testing.assert_allclose(looped(X), np.cos(np.cos(X)), rtol=1e-6)
    np.testing.assert_allclose(dt.grad(lambda x: f(x).sum())(X), np.cos(X), rtol=1e-6)


def test_results_of_any_structure() -> None:
    f = dt.custom(lambda x, y: {"sum": x + y, "none": None, "pair": (x, y)})
    f.def_lower(lambda b, x, y: [x, y, b.op("stablehlo.multiply", [x, y], b.outs[2])])
    result = dt.jit(f)(X, X + 1)
    np.testing.assert_array_equal(result["sum"], X * (X + 1))
    assert result["none"] is None
    empty = dt.custom(lambda x: ())
    empty.def_lower(lambda b, x: [])
    assert dt.jit(empty)(X) == ()


@pytest.mark.parametrize(
    ("lower", "got"),
    [
        (lambda b, x: [x, x], r"f32\[4\], f32\[4\]"),
        (lambda b, x: [], ""),
        (lambda b, x: None, "None"),
        (lambda b, x: b.convert(x, np.int32), r"i32\[4\]"),
    ],
)
def test_results_of_other_types_are_refused(lower: Any, got: str) -> None:
    f = dt.custom(lambda x: x)
    f.def_lower(lower)
    said = rf"^the lowering of <lambda> at .*test_lowered\.py.*returned \({got}\), but the results"
    with pytest.raises(RegistryError, match=said):
        dt.jit(lambda x: f(x))(X)


def test_a_body_that_cannot_be_traced_says_what_to_do() -> None:
    f = dt.custom(no_body)
    f.def_lower(cosine)
    for call in (dt.jit(f), f):
        with pytest.raises(NotImplementedError, match="a kernel, and no body") as e:
            call(X)
        (note,) = e.value.__notes__
        assert note.startswith("no_body has a lowering, and the type of its result is that of its")
        assert note.endswith("define the type: no_body.def_abstract_eval.")


def test_a_function_without_a_body_is_evaluated_and_compiled() -> None:
    f = dt.custom(no_body)
    f.def_lower(cosine)
    f.def_abstract_eval(lambda x: x)
    np.testing.assert_allclose(f(X), np.cos(X), rtol=1e-6)
    np.testing.assert_allclose(dt.jit(lambda x: f(f(x)) * 2)(X), 2 * np.cos(np.cos(X)), rtol=1e-6)
    branches = dt.jit(lambda x: dt.lax.cond(x[0] > 0, f, lambda x: x, x))
    np.testing.assert_allclose(branches(X), np.cos(X), rtol=1e-6)
    assert dt.eval_shape(f, X).shape == (4,)


def test_types_of_any_kind_and_structure() -> None:
    def split(b: Any, table: Any, n: Any) -> list[Any]:
        return [b.convert(n, np.float32), b.op("stablehlo.negate", [table], b.outs[1])]

    f = dt.custom(no_body)
    f.def_lower(split)
    f.def_abstract_eval(
        lambda tree: {
            "b": dt.ShapeDtypeStruct(tree["table"].shape, np.float32),
            "a": ShapedArray(tree["z"].shape, np.dtype(np.float32)),
        }
    )
    result = dt.jit(f)({"table": X, "z": 3})
    assert result["a"] == 3.0 and result["a"].dtype == np.float32
    np.testing.assert_array_equal(result["b"], -X)
    g = dt.custom(no_body)
    g.def_abstract_eval(lambda x: "float32")
    with pytest.raises(TypeError, match=r"type rule of no_body returned 'float32' at .*no type of"):
        dt.jit(g)(X)


def test_a_function_without_a_body_is_transformed_by_its_rules_alone() -> None:
    f = dt.custom(no_body)
    f.def_lower(cosine)
    f.def_abstract_eval(lambda x: x)
    for transformed, table, how in (
        (lambda: dt.grad(f)(1.0), "ad.jvp", "def_jvp or def_vjp"),
        (lambda: dt.jit(dt.vmap(f))(X), "batching.batch", "def_vmap"),
        (lambda: dt.jit(f, backend="reference")(X), "backends.reference", "def_rule("),
    ):
        with pytest.raises(MissingRule) as e:
            transformed()
        text = str(e.value)
        assert text.startswith(f"no_body has no rule for '{table}', which is needed at ")
        assert f"Give it one: no_body.{how}" in text
    f.def_jvp(lambda primals, tangents: (f(*primals), -dnp.sin(primals[0]) * tangents[0]))
    f.def_vmap(lambda size, batched, x: (f(x), batched[0]))
    f.def_rule("backends.reference", lambda x, program: [np.cos(x)])
    np.testing.assert_allclose(dt.grad(f)(1.0), -np.sin(1.0), rtol=1e-6)
    np.testing.assert_allclose(dt.jit(dt.grad(f))(1.0), -np.sin(1.0), rtol=1e-6)
    np.testing.assert_allclose(dt.jit(dt.vmap(f))(X), np.cos(X), rtol=1e-6)
    np.testing.assert_allclose(dt.jit(f, backend="reference")(X), np.cos(X), rtol=1e-6)


def test_numpy_does_not_compute_the_body_in_place_of_the_lowering() -> None:
    f = dt.custom(lambda x: x + 1)
    f.def_lower(lambda b, x: b.op("stablehlo.negate", [x], b.out))
    x = dnp.arange(3)
    with interpret_first_calls(3):
        for _ in range(8):
            np.testing.assert_array_equal(f(x), [0, -1, -2])
    np.testing.assert_array_equal(dt.jit(f)(x), [0, -1, -2])
