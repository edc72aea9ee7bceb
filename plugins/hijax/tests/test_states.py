"""Mutable types that tell of their contents by a state: through jit, derivatives, loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail import lax
from dovetail.experimental import cur_qdd
from dovetail.hijax import (
    AvalQDD,
    HiPrimitive,
    MutableHiType,
    aval_method,
    aval_property,
    register_hitype,
)

X = np.array([1.0, 2.0, 3.0], np.float32)


@dataclass(frozen=True)
class Held:
    """The state: which structure and which types."""

    tree: Any
    avals: tuple[Any, ...]

    def to_tangent_qdd(self) -> Held:
        return Held(self.tree, tuple(a.to_tangent_aval() for a in self.avals))


class Cell:
    """A place for a pytree."""

    def __init__(self, value: Any, label: str = "") -> None:
        self.leaves, self.tree = dovetail.tree.flatten(value)
        self.label = label

    def cur_qdd(self) -> Held:
        return Held(self.tree, tuple(map(dovetail.typeof, self.leaves)))

    @property
    def value(self) -> Any:
        return get(self)


class CellType(MutableHiType):
    __slots__ = ("label",)

    def __init__(self, label: str) -> None:
        self.label = label

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CellType) and self.label == other.label

    def __hash__(self) -> int:
        return hash(self.label)

    def str_short(self, **_: Any) -> str:
        return f"Cell({self.label})"

    def lo_ty_qdd(self, state: Held) -> list[Any]:
        return [t for a in state.avals for t in a.lo_ty()]

    def new_from_loval(self, state: Held, *contents: Any) -> Cell:
        rest = iter(contents)
        leaves = [a.raise_val(*[next(rest) for _ in a.lo_ty()]) for a in state.avals]
        return Cell(dovetail.tree.unflatten(state.tree, leaves), self.label)

    def read_loval(self, state: Held, value: Any) -> list[Any]:
        leaves = dovetail.tree.leaves(get(value))
        return [x for a, v in zip(state.avals, leaves) for x in a.lower_val(v)]

    def update_from_loval(self, state: Held, value: Any, *contents: Any) -> None:
        put(value, self.new_from_loval(state, *contents).value)

    def to_tangent_aval(self) -> CellType:
        return self

    def _add(self, cell: Any, other: Any) -> Any:
        assert isinstance(self, CellType)
        return get(cell) + other

    _getitem = aval_method(lambda cell, _: get(cell))
    twice = aval_method(lambda cell: 2 * get(cell))
    __jax_array__ = aval_method(lambda cell: get(cell))
    half = aval_property(lambda cell: get(cell) / 2)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("of_"):
            return aval_property(lambda cell: get(cell)[name.removeprefix("of_")])
        raise AttributeError(name)


register_hitype(Cell, lambda cell: CellType(cell.label))


class New(HiPrimitive):
    def abstract_eval(self, *avals: Any, tree: Any) -> Any:
        return AvalQDD(CellType(""), Held(tree, avals)), set()

    def to_lo(self, *leaves: Any, tree: Any) -> Cell:
        return Cell(dovetail.tree.unflatten(tree, leaves))


class Get(HiPrimitive):
    multiple_results = True

    def abstract_eval(self, cell: Any, *, held: Held) -> Any:
        return list(held.avals)

    def to_lo(self, cell: Cell, *, held: Held) -> Any:
        return list(cell.leaves)


class Put(HiPrimitive):
    multiple_results = True

    def abstract_eval(self, cell: Any, *avals: Any, tree: Any) -> Any:
        cell.mutable_qdd.update(Held(tree, avals))
        return []

    def to_lo(self, cell: Cell, *leaves: Any, tree: Any) -> list[Any]:
        cell.leaves, cell.tree = list(leaves), tree
        return []


new_p, get_p, put_p = New("cells.new"), Get("cells.get"), Put("cells.put")


def get(cell: Any) -> Any:
    held = cur_qdd(cell)
    return dovetail.tree.unflatten(held.tree, get_p.bind(cell, held=held))


def put(cell: Any, value: Any) -> None:
    leaves, tree = dovetail.tree.flatten(value)
    put_p.bind(cell, *leaves, tree=tree)


def new(value: Any) -> Any:
    leaves, tree = dovetail.tree.flatten(value)
    return new_p.bind(*leaves, tree=tree)


def near(a: Any, b: Any) -> None:
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-6)


def test_at_rest():
    cell = new(X)
    assert isinstance(cell, Cell)
    put(cell, {"a": X, "b": 1})
    assert get(cell)["b"] == 1
    assert isinstance(dovetail.typeof(cell), CellType) and not dovetail.typeof(cell).is_high
    assert dovetail.typeof(cell) != dovetail.typeof(Cell(X))


def test_passed_to_jit_and_closed_over():
    traces = []

    def step(cell, x):
        traces.append(x)
        assert isinstance(dovetail.typeof(cell), CellType)
        put(cell, {"sum": get(cell) + x.sum(), "x": x})
        return get(cell)["sum"]

    cell, f = Cell(dnp.float32(1)), dovetail.jit(step)
    near(f(cell, X), 7)
    near(cell.value["x"], X)
    cell = Cell(dnp.float32(2))
    near(f(cell, X), 8)
    assert len(traces) == 1
    cell = Cell(dnp.zeros(3))
    g = dovetail.jit(lambda x: put(cell, get(cell) + x))
    g(X), g(X)
    near(cell.value, 2 * X)
    put(cell, dnp.float32(1))
    g(X)
    near(cell.value, 1 + X)


def test_types_change_there_and_back():
    def f(cell):
        put(cell, dnp.zeros(2))
        assert cur_qdd(cell).avals[0].shape == (2,)
        put(cell, dnp.ones(3))

    cell = Cell(X)
    ir = dovetail.make_jaxpr(f)(cell)
    assert not ir.jaxpr.mut_types
    dovetail.jit(f)(cell)
    near(cell.value, 1)


def test_operators_and_attributes_of_traced_ones():
    def f(cell, named):
        assert cell.label == "c" and not hasattr(cell, "absent")
        assert hasattr(cell, "__jax_array__") and not hasattr(cell, "__absent__")
        return cell + 1, cell[...], cell.twice(), cell.half, named.of_a, dnp.sin(cell)

    result = dovetail.jit(f)(Cell(X, "c"), Cell({"a": X}))
    for a, b in zip(result, (X + 1, X, 2 * X, X / 2, X, np.sin(X))):
        near(a, b)


def test_made_inside_under_every_transformation():
    def f(x):
        cell = new(x)
        put(cell, (get(cell) ** 2, x))
        return get(cell)[0].sum()

    near(f(X), 14)
    near(dovetail.jit(f)(X), 14)
    near(dovetail.grad(f)(X), 2 * X)
    near(dovetail.jit(dovetail.grad(f))(X), 2 * X)
    near(dovetail.vmap(dovetail.grad(f))(X[None]), 2 * X[None])


def test_loops_and_branches():
    def f(cell, x):
        def body(carry, _):
            put(cell, get(cell) + carry)
            return carry * 2, get(cell)

        out = lax.scan(body, x, length=3)
        lax.cond(x > 0, lambda: put(cell, get(cell) + 100.0), lambda: None)
        return out

    cell = Cell(dnp.float32(0))
    _, kept = dovetail.jit(f)(cell, dnp.float32(1))
    near(kept, [1, 3, 7])
    near(cell.value, 107)
    with pytest.raises(TypeError, match="must stay the same"):
        dovetail.jit(lambda c: lax.fori_loop(0, 2, lambda i, x: put(c, X) or x, 0))(cell)


def test_a_gradient_past_an_argument_that_counts():
    def loss(x, cell):
        put(cell, get(cell) + 1.0)
        return (x**2).sum()

    cell = Cell(dnp.float32(0))
    near(dovetail.jit(dovetail.grad(loss))(X, cell), 2 * X)
    near(cell.value, 1)


def test_keys_within():
    def f(cell):
        key, sub = dovetail.random.split(get(cell))
        put(cell, key)
        return dovetail.random.uniform(sub)

    cell = Cell(dovetail.random.key(0))
    key, sub = dovetail.random.split(dovetail.random.key(0))
    near(dovetail.jit(f)(cell), dovetail.random.uniform(sub))
    assert dovetail.random.key_data(cell.value).tolist() == dovetail.random.key_data(key).tolist()
    near(f(cell), dovetail.random.uniform(dovetail.random.split(key)[1]))


def test_what_is_no_place_has_no_state():
    with pytest.raises(TypeError, match=r"cur_qdd takes .* got f32\[3\]"):
        cur_qdd(X)
