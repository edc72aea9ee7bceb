"""Values whose class says itself how functions are mapped over them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad
from dovetail_batching import register_vmappable, unregister_vmappable, vmap
from dovetail_jit import jit

X = np.arange(6, dtype=np.float32).reshape(2, 3)
B = np.ones(3, np.float32)


class Pair:
    """Two arrays, of which the second has no mapped axis."""

    def __init__(self, x: Any, fixed: Any) -> None:
        self.x, self.fixed = x, fixed


class Sized(Pair):
    """The same with a shape."""

    @property
    def shape(self) -> Any:
        return self.x.shape


class Spec:
    """Along which axis."""

    def __init__(self, axis: int) -> None:
        self.axis = axis


seen: list[Any] = []


def to_elt(cont: Any, get_index: Any, pair: Any, spec: Any) -> Any:
    seen.append((get_index(), spec))
    return type(pair)(cont(pair.x, spec.axis if isinstance(spec, Spec) else spec), pair.fixed)


def from_elt(cont: Any, axis_size: int, pair: Any, spec: Any) -> Any:
    seen.append(axis_size)
    axis = spec.axis if isinstance(spec, Spec) else spec
    return type(pair)(cont(axis_size, pair.x, axis), cont(axis_size, pair.fixed, None))


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    register_vmappable(Pair, Spec, int, to_elt, from_elt, None)
    register_vmappable(Sized, int, int, to_elt, from_elt, lambda n: np.arange(n, dtype=np.int32))
    seen.clear()
    yield
    unregister_vmappable(Pair)
    unregister_vmappable(Sized)
    unregister_vmappable(Spec)  # it was none: nothing happens


def double(pair: Any, y: Any) -> Any:
    assert pair.x.shape == (2,) and pair.fixed.shape == (3,)
    return {"pair": type(pair)(lax.mul(pair.x, 2.0), pair.fixed), "y": lax.mul(pair.x, y)}


def test_the_class_says_how_its_values_are_mapped() -> None:
    out = vmap(double, (Spec(1), 0), {"pair": Spec(0), "y": 0})(Pair(X, B), B)
    np.testing.assert_allclose(out["pair"].x, 2 * X.T)
    np.testing.assert_allclose(out["y"], X.T)
    assert out["pair"].fixed is B and len(seen) == 2 and seen[1] == 3


def test_the_length_of_an_axis_and_the_index_of_an_element() -> None:
    def f(pair: Any) -> Any:
        return lax.add(pair.x, lax.convert_element_type(seen[0][0], np.float32))

    np.testing.assert_allclose(vmap(f, 1)(Sized(X, B)), X.T + np.arange(3)[:, None])
    with pytest.raises(ValueError, match="no argument is mapped"):
        vmap(lambda p: p.x, Spec(1))(Pair(X, B))
    result = vmap(lambda p: p.x, Spec(-1), axis_size=3)(Pair(X, B))
    np.testing.assert_allclose(result, X.T)
    with pytest.raises(ValueError, match=r"args\[1\]\[0\] has type Sized, mapped over axis 1"):
        vmap(lambda x, p: x, (0, 1))(X, [Sized(X, B)])


def test_in_trees_nested_and_under_other_transformations() -> None:
    def total(x: Any) -> Any:
        pairs = [Sized(x, B)]
        out = vmap(lambda ps, y: [double(ps[0], y)["pair"], y], (1, 0))(pairs, B)
        return lax.reduce_sum(out[0].x, (0, 1))

    assert float(jit(total)(X)) == 2 * X.sum()
    np.testing.assert_allclose(grad(total)(X), np.full_like(X, 2))
    mapped = vmap(lambda p: vmap(lambda q: lax.mul(q.x, 2.0), Spec(0), axis_size=2)(p), Spec(1),
                  axis_size=3)  # fmt: skip
    np.testing.assert_allclose(mapped(Pair(X, B)), 2 * X.T)


def test_a_wrong_spec_is_refused() -> None:
    with pytest.raises(TypeError, match="in_axes: expected Spec or None for a Pair, got 0"):
        vmap(lambda p, y: y)(Pair(X, B), B)
    with pytest.raises(TypeError, match="out_axes: expected Spec or None for a Pair, got 0"):
        vmap(lambda y: Pair(y, B))(B)


def test_results_without_a_place_are_named_as_elsewhere() -> None:
    text = r"at vmap out_axes\['b'\], got axis spec None but output was batched on axis 0"
    with pytest.raises(ValueError, match=text):
        vmap(lambda x: {"a": 1.0, "b": x}, out_axes=None)(X)
