"""``vmap``: axes, trees, names, collectives, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad
from dovetail_batching import vmap
from dovetail_core import Primitive, enable_x64
from dovetail_jit import jit, make_jaxpr

A = np.arange(12, dtype=np.float32).reshape(3, 4) / 7
V = np.asarray([1.0, -1.0, 2.0, 0.5], np.float32)


def total(x: Any) -> Any:
    return lax.reduce_sum_p.bind(x, axes=tuple(range(x.ndim)))


def test_maps_the_leading_axis() -> None:
    np.testing.assert_allclose(vmap(total)(A), A.sum(1), rtol=1e-6)


@pytest.mark.parametrize("in_axes, out_axes", [(0, 0), (1, 0), (-1, 1), (0, -1)])
def test_axes(in_axes: int, out_axes: int) -> None:
    result = vmap(lax.sin, in_axes, out_axes)(A)
    expected = np.moveaxis(np.sin(np.moveaxis(A, in_axes, 0)), 0, out_axes)
    np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_prefix_trees_and_unmapped_arguments() -> None:
    def f(p: Any, x: Any) -> Any:
        return {"s": lax.add(p["a"], lax.mul(p["b"][0], x))}

    p = {"a": A, "b": (V, V)}
    result = vmap(f, ({"a": 0, "b": None}, None))(p, V)
    np.testing.assert_allclose(result["s"], A + V * V, rtol=1e-6)
    result = vmap(f, ({"a": 0, "b": None}, None), {"s": 1})(p, V)
    assert result["s"].shape == (4, 3)


def test_keyword_arguments_map_their_first_axis() -> None:
    np.testing.assert_allclose(vmap(lambda *, x: total(x))(x=A), A.sum(1), rtol=1e-6)


def test_axis_size_alone_repeats_a_constant() -> None:
    assert np.asarray(vmap(lambda: np.float32(2), axis_size=3)()).tolist() == [2, 2, 2]


def test_unmapped_results_can_stay_unmapped() -> None:
    assert float(vmap(lambda x: 1.0, out_axes=None)(A)) == 1.0
    with pytest.raises(ValueError, match="out_axes is None for a result that depends"):
        vmap(total, out_axes=None)(A)


def test_results_without_a_place_can_be_summed() -> None:
    def both(x: Any) -> Any:
        return lax.mul(x, x), x, np.float32(5)

    square, same, constant = vmap(both, 0, (None, 1, None), sum_match=True)(A)
    np.testing.assert_allclose(square, np.sum(A * A, 0), rtol=1e-6)
    np.testing.assert_allclose(same, A.T)
    assert float(constant) == 5  # it does not depend on the axis
    over_columns = jit(vmap(lambda x: x, 1, None, sum_match=True))
    np.testing.assert_allclose(over_columns(A), A.sum(1), rtol=1e-6)
    slope = grad(lambda a: vmap(lambda x: total(lax.sin(x)), 0, None, sum_match=True)(a))(A)
    np.testing.assert_allclose(slope, np.cos(A), rtol=1e-6)
    nested = vmap(vmap(lambda x: x, 0, None, sum_match=True), 0, None, sum_match=True)
    np.testing.assert_allclose(nested(A), A.sum(), rtol=1e-6)


@pytest.mark.parametrize(
    ("dtype", "wide"),
    {"bool": "int32", "int8": "int32", "uint8": "uint32", "uint32": "uint32"}.items(),
)
def test_sums_of_narrow_integers_are_wide(dtype: str, wide: str) -> None:
    summed = vmap(lambda x: x, out_axes=None, sum_match=True)
    result = summed(np.ones(300, dtype))
    assert (int(result), result.dtype) == (300, wide)
    assert summed(np.ones(3, np.float16)).dtype == np.float16
    with enable_x64(True):
        assert summed(np.ones(3, dtype)).dtype == wide.replace("32", "64")


def test_nested_maps_and_compositions() -> None:
    outer = vmap(vmap(lax.mul, (None, 0)), (0, None))(V, V)
    np.testing.assert_allclose(outer, np.outer(V, V))
    g = vmap(grad(lambda x: total(lax.sin(x))))(A)
    np.testing.assert_allclose(g, np.cos(A), rtol=1e-6)
    g = grad(lambda m: total(vmap(lambda x: lax.mul(x, x))(m)))(A)
    np.testing.assert_allclose(g, 2 * A)
    np.testing.assert_allclose(jit(vmap(total))(A), vmap(jit(total))(A))


def test_collectives_over_a_named_axis() -> None:
    def f(x: Any) -> Any:
        return (
            lax.psum(x, "i"),
            lax.pmean(x, "i"),
            lax.pmax(x, "i"),
            lax.pmin(x, "i"),
            lax.axis_index("i"),
            lax.all_gather(x, "i"),
            lax.ppermute(x, "i", [(0, 1), (1, 2)]),
        )

    s, m, hi, lo, index, gathered, sent = vmap(f, axis_name="i")(A)
    np.testing.assert_allclose(s, np.broadcast_to(A.sum(0), (3, 4)), rtol=1e-6)
    np.testing.assert_allclose(m, np.broadcast_to(A.mean(0), (3, 4)), rtol=1e-6)
    np.testing.assert_array_equal(hi, np.broadcast_to(A.max(0), (3, 4)))
    np.testing.assert_array_equal(lo, np.broadcast_to(A.min(0), (3, 4)))
    np.testing.assert_array_equal(index, [0, 1, 2])
    np.testing.assert_array_equal(gathered, np.broadcast_to(A, (3, 3, 4)))
    np.testing.assert_array_equal(sent, np.stack([np.zeros(4), A[0], A[1]]))


def test_psum_of_a_constant_is_the_size() -> None:
    result = vmap(lambda x: lax.mul(x, float(lax.psum(1, "i"))), axis_name="i")(V)
    assert np.asarray(result).tolist() == [4.0, -4.0, 8.0, 2.0]


def test_all_to_all_transposes_across_the_axis() -> None:
    square = np.arange(9.0, dtype=np.float32).reshape(3, 3)
    result = vmap(lambda x: lax.all_to_all(x, "i", 0, 0), axis_name="i")(square)
    np.testing.assert_array_equal(result, square.T)
    tiled = vmap(lambda x: lax.all_to_all(x, "i", 0, 0, tiled=True), axis_name="i")(square)
    np.testing.assert_array_equal(tiled, square.T)


def test_collectives_are_differentiable() -> None:
    def f(m: Any) -> Any:
        return total(vmap(lambda x: lax.mul(x, lax.psum(x, "i")), axis_name="i")(m))

    np.testing.assert_allclose(grad(f)(A), np.broadcast_to(2 * A.sum(0), A.shape), rtol=1e-5)


def test_collectives_inside_jit_and_scan() -> None:
    def f(x: Any) -> Any:
        return lax.scan(lambda c, _: (lax.psum(c, "i"), None), x, None, length=2)[0]

    result = vmap(jit(f), axis_name="i")(A)
    np.testing.assert_allclose(result, np.broadcast_to(3 * A.sum(0), A.shape), rtol=1e-6)


def test_unbound_axis_names_are_errors() -> None:
    with pytest.raises(NameError, match=r"axis name 'j' is not bound here \(in scope: 'i'\)"):
        vmap(lambda x: lax.psum(x, "j"), axis_name="i")(A)


def test_errors_name_the_argument() -> None:
    with pytest.raises(ValueError, match="in_axes has 1 entries, but 2 positional"):
        vmap(lax.mul, (0,))(A, A)
    with pytest.raises(
        ValueError, match=r"args\[1\] has type f32\[4\], mapped over axis 0, of length 4"
    ):
        vmap(lax.mul)(A, V)
    with pytest.raises(ValueError, match=r"axis 2 of args\[0\], which has type f32\[3,4\]"):
        vmap(lax.sin, 2)(A)
    with pytest.raises(ValueError, match="no argument is mapped"):
        vmap(lax.sin, None)(A)
    with pytest.raises(
        ValueError, match=r"in_axes\[0\] is a tuple of length 2, but the value there"
    ):
        vmap(lambda p: p, ((0, 0),))((A, A, A))
    with pytest.raises(TypeError, match="expected an integer or None, got 'x'"):
        vmap(lax.sin, ("x",))(A)
    with pytest.raises(TypeError, match="in_axes must be an integer"):
        vmap(lax.sin, "x")
    with pytest.raises(TypeError, match="vmap takes a function"):
        vmap(3)  # type: ignore[arg-type]


PROGRAMS = {
    "jit": lambda i: jit(lambda: i())(),
    "scan": lambda i: lax.scan(lambda c, _: (lax.add(c, i()), None), np.int32(0), length=1)[0],
    "while": lambda i: lax.while_loop(
        lambda c: lax.lt(c, i()), lambda c: lax.add(c, np.int32(1)), np.int32(0)
    ),
    "cond": lambda i: lax.cond(True, i, lambda: np.int32(7)),
    "jit of scan": lambda i: jit(lambda: PROGRAMS["scan"](i))(),
    "cond of jit": lambda i: lax.cond(True, jit(lambda: i()), lambda: np.int32(7)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_collectives_in_programs_that_take_no_mapped_operand(name: str) -> None:
    """What a program returns depends on the mapped axis though nothing mapped goes in."""
    result = vmap(lambda x: PROGRAMS[name](lambda: lax.axis_index("i")), axis_name="i")(A)
    np.testing.assert_array_equal(result, [0, 1, 2])
    both = vmap(
        lambda x: vmap(
            lambda y: PROGRAMS[name](
                lambda: lax.add(lax.axis_index("i"), lax.mul(lax.axis_index("j"), np.int32(10)))
            ),
            axis_name="j",
        )(x),
        axis_name="i",
    )(A)
    np.testing.assert_array_equal(both, np.arange(3)[:, None] + 10 * np.arange(4))


def test_each_result_has_its_own_place_for_the_axis() -> None:
    x = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
    same, result = vmap(lambda x: (x, {"a": x, "b": lax.neg(x)}), 0, (0, {"a": 2, "b": 1}))(x)
    np.testing.assert_array_equal(same, x)
    np.testing.assert_array_equal(result["a"], np.moveaxis(x, 0, 2))
    np.testing.assert_array_equal(result["b"], -np.moveaxis(x, 0, 1))


def test_the_size_of_an_axis_may_be_numpys() -> None:
    program = make_jaxpr(vmap(lambda x: x, in_axes=None, axis_size=np.int64(17)))(A)
    (aval,) = program.out_avals
    assert type(aval.shape[0]) is int and aval.shape[0] == 17
    assert "int64" not in repr([e.params for e in program.eqns])


def test_a_rule_follows_from_a_decomposition() -> None:
    p = Primitive("vmap_test.square_and_sum")
    p.def_abstract_eval(lambda x: x)
    p.def_decomposition(lambda x: lax.add(lax.mul(x, x), x))
    result = vmap(p.bind, 1, 1)(A)
    np.testing.assert_allclose(result, A * A + A, rtol=1e-6)


def test_a_broadcast_keeps_a_mapped_axis_in_front() -> None:
    """A later reduction then reads whole rows: over the axis before the mapped one it strides."""

    def spread(g: Any) -> Any:
        return lax.broadcast_in_dim(g, (5, 3), (1,))

    program = make_jaxpr(vmap(spread))(np.ones((4, 1), np.float32))
    assert [e.primitive.name for e in program.jaxpr.eqns] == ["broadcast_in_dim"]
