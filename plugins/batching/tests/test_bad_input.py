"""What ``vmap`` refuses, what it says, and the edges that it accepts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad
from dovetail_batching import vmap
from dovetail_core import (
    ConcretizationTypeError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    UnexpectedTracerError,
)
from dovetail_jit import jit

A = np.arange(12, dtype=np.float32).reshape(3, 4) / 7
V = np.asarray([1.0, -1.0, 2.0, 0.5], np.float32)
HERE = r"at .*test_bad_input\.py"
Call = Callable[[], Any]


def total(x: Any) -> Any:
    return lax.reduce_sum_p.bind(x, axes=tuple(range(x.ndim)))


@pytest.mark.parametrize("wrong", ["text", object(), {1}, np.array(["a"])])
def test_mapped_values_that_are_no_arrays_are_named(wrong: Any) -> None:
    said = r"vmap of <lambda>: {} at .*test_bad_input\.py:\d+ .*is not a valid array value"
    with pytest.raises(TypeError, match=said.format(r"args\[1\]\['k'\]\[0\]")):
        vmap(lambda a, b: a)(A, {"k": [wrong]})
    with pytest.raises(TypeError, match=said.format(r"kwargs\['b'\]")):
        vmap(lambda a, b: a)(A, b=wrong)
    with pytest.raises(TypeError, match=r"vmap of <lambda>: it returned a value that is not an"):
        vmap(lambda x: (x, wrong))(A)
    assert vmap(lambda a, b: a, (0, None))(A, wrong).shape == A.shape


AXES: list[tuple[type[Exception], str, Call]] = [
    (TypeError, "in_axes: expected an integer or None, got True", lambda: vmap(lax.sin, True)(A)),
    (TypeError, "in_axes must be an integer, None or a tu", lambda: vmap(lax.sin, 0.0)(A)),
    (
        TypeError,
        r"in_axes.1.: expected an integer or None, g",
        lambda: vmap(lax.mul, (0, "a"))(A, A),
    ),
    (TypeError, "out_axes: expected an integer or None, g", lambda: vmap(lax.sin, 0, "a")(A)),
    (TypeError, r"out_axes: expected an integer .* 1\.5", lambda: vmap(lax.sin, 0, 1.5)(A)),
    (TypeError, "axis_size must be an integer", lambda: vmap(lax.sin, axis_size="3")(A)),  # type: ignore[arg-type]
    (ValueError, r"axis 0 of kwargs\['y'\], which has type f32", lambda: vmap(lax.sin)(y=1.0)),
    (ValueError, "axis_size=5 was given", lambda: vmap(lax.sin, axis_size=5)(A)),
    (ValueError, "out_axes=3 is out of range .* of 2 axes", lambda: vmap(lax.sin, 0, 3)(A)),
    (ValueError, "no argument is mapped", lambda: vmap(lambda: 1.0)()),
]


@pytest.mark.parametrize("error, said, call", AXES, ids=[said[:20] for _, said, _ in AXES])
def test_axes_are_checked(error: type[Exception], said: str, call: Call) -> None:
    with pytest.raises(error, match=said):
        call()


def test_results_and_their_axes_have_one_structure() -> None:
    with pytest.raises(ValueError, match=r"out_axes is a tuple of length 1, but .* length 2"):
        vmap(lambda x: (x, x), out_axes=(0,))(A)
    with pytest.raises(ValueError, match=r"out_axes is a dict with keys .*'b'.*, but .*'a'"):
        vmap(lambda x: {"a": x}, out_axes={"b": 0})(A)


def test_none_leaves_and_empty_axes() -> None:
    result = vmap(lambda t: {"a": (t["a"], None)})({"a": A, "n": None})
    assert result["a"][1] is None and result["a"][0].shape == (3, 4)
    empty = np.zeros((0, 3), np.float32)
    assert vmap(lax.sin)(empty).shape == (0, 3)
    assert vmap(total)(empty).shape == (0,)
    assert vmap(vmap(lambda x: lax.add(x, 1.0)))(empty).shape == (0, 3)


def test_an_inner_axis_hides_an_outer_one_of_its_name() -> None:
    inner = vmap(lambda x: lax.psum(x, "i"), axis_name="i")
    result = vmap(inner, axis_name="i")(A)
    np.testing.assert_allclose(result, np.broadcast_to(A.sum(1, keepdims=True), A.shape), rtol=1e-6)


def test_tracers_converted_to_python_or_numpy_values() -> None:
    cases: dict[type[Exception], Callable[[Any], Any]] = {
        TracerBoolConversionError: lambda x: x if lax.gt(x, 0.0) else lax.neg(x),
        ConcretizationTypeError: lambda x: lax.mul(x, float(x)),
        TracerIntegerConversionError: lambda x: [V, V][lax.convert_element_type(x, np.int32)],
        TracerArrayConversionError: lambda x: np.sin(x),
    }
    for error, f in cases.items():
        with pytest.raises(error, match=rf"is being traced by vmap is (used|converted) .*{HERE}"):
            vmap(f)(V)
    with pytest.raises(TracerBoolConversionError, match="traced by vmap"):
        vmap(grad(lambda x: x if x > 0 else lax.neg(x)))(V)


def test_values_that_are_not_mapped_can_be_looked_at() -> None:
    result = vmap(lambda x, y: lax.mul(x, y) if y > 0 else x, (0, None))(V, 2.0)
    np.testing.assert_allclose(result, 2 * V)


def test_leaked_tracers_are_named_wherever_they_are_used() -> None:
    leaked: list[Any] = []

    def keep(x: Any) -> Any:
        leaked[:] = [x]
        return x

    vmap(keep)(A)
    for use in (
        lax.sin,
        lambda x: jit(lambda: lax.sin(x))(),
        lambda x: jit(lax.sin)(x),
        lambda x: vmap(lax.sin)(x),
        lambda x: vmap(lambda y: lax.add(x, y), (0,))(np.ones((2, 4), np.float32)),
        np.asarray,
    ):
        with pytest.raises(UnexpectedTracerError, match=rf"f32\[4\] left vmap, .*used {HERE}"):
            use(leaked[0])


def test_huge_trees() -> None:
    tree = {f"k{i}": V for i in range(1000)}
    result = vmap(lambda t: t)(tree)
    assert len(result) == 1000 and result["k7"].shape == (4,)


def test_collectives_name_the_axis_and_what_is_wrong() -> None:
    def over(f: Callable[[Any], Any]) -> Any:
        return vmap(f, axis_name="i")(A)

    with pytest.raises(NameError, match=r"axis name 'j' is not bound here \(in scope: 'i'\)"):
        over(lambda x: lax.psum(x, ("i", "j")))
    with pytest.raises(NameError, match=r"axis name 'i' is not bound here \(in scope: none\)"):
        lax.axis_index("i")
    with pytest.raises(ValueError, match=r"perm names a destination twice"):
        over(lambda x: lax.ppermute(x, "i", [(0, 1), (1, 1)]))
    with pytest.raises(ValueError, match=r"perm has a source outside of 0\.\.2"):
        over(lambda x: lax.ppermute(x, "i", [(3, 1)]))
    with pytest.raises(ValueError, match=r"perm must be a permutation of the axis"):
        over(lambda x: lax.pshuffle(x, "i", [0, 0, 1]))
    with pytest.raises(ValueError, match=r"axis 0 has length 4, which is not the length 3 of 'i'"):
        over(lambda x: lax.all_to_all(x, "i", 0, 0))
    with pytest.raises(ValueError, match=r"is not divisible by the length 3"):
        over(lambda x: lax.all_to_all(x, "i", 0, 0, tiled=True))


PLACES: list[tuple[type[Exception], str, Call]] = [
    (ValueError, r"in_axes has 1 entries.*Give one entry", lambda: vmap(lax.add, (0,))(A, A)),
    (ValueError, r"in_axes\[0\] is a dict.*prefix", lambda: vmap(same, ({"y": 0},))({"x": A})),
    (ValueError, r"mapped axes must have one length.*Slice", lambda: vmap(lax.add)(A, V)),
    (ValueError, "vmap got inconsistent sizes for array axes", lambda: vmap(lax.add)(A, V)),
    (ValueError, r"in_axes asks for axis 2 of args\[0\].*Use None", lambda: vmap(same, 2)(A)),
    (ValueError, r"out_axes is None for a result.*reduce", lambda: vmap(same, 0, None)(A)),
    (
        ValueError,
        r"at vmap out_axes, got axis spec None but output was batched on axis 0",
        lambda: vmap(same, 0, None)(A),
    ),
    (ValueError, r"out_axes=5 is out of range.*Use one from -2", lambda: vmap(same, 0, 5)(A)),
    (ValueError, r"no argument is mapped.*pass axis_size", lambda: vmap(same, None)(A)),
    (TypeError, r"vmap takes a function, got 3 of type int", lambda: vmap(3)),  # type: ignore[arg-type]
    (TypeError, r"returned a value that is not an array", lambda: vmap(lambda x: "text")(A)),
]


def same(x: Any) -> Any:
    return x


@pytest.mark.parametrize("error, said, call", PLACES, ids=[said[:20] for _, said, _ in PLACES])
def test_the_users_line_is_named(error: type[Exception], said: str, call: Call) -> None:
    with pytest.raises(error, match=rf"(?s){said}") as caught:
        call()
    assert re.search(rf"{HERE}:\d+ \(<lambda>\)", str(caught.value))
