"""Values of high types in ``shard_map``: their types and specs say what each device has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail import P, hijax, lax, numpy as dnp, shard_map
from dovetail_core import ShapedArray
from dovetail_sharding.specs import axes_of

F32 = np.dtype(np.float32)


@dataclass(frozen=True)
class Pair:
    a: Any
    b: Any


@dataclass(frozen=True)
class PairSpec(hijax.HiPspec):
    a: Any
    b: Any

    def to_lo(self) -> Any:
        return self.a, self.b


def _sized(shape: Any, spec: Any, mesh: Any, inwards: bool) -> tuple[int, ...]:
    result = list(shape)
    for i, p in enumerate(spec):
        for axis in axes_of(p):
            result[i] = result[i] // mesh.shape[axis] if inwards else result[i] * mesh.shape[axis]
    return tuple(result)


@dataclass(frozen=True)
class PairType(hijax.HiType):
    a: tuple[int, ...]
    b: tuple[int, ...]
    over_a: frozenset[Any] = frozenset()
    over_b: frozenset[Any] = frozenset()

    def lo_ty(self) -> Any:
        return [
            ShapedArray(self.a, F32, vma=self.over_a),
            ShapedArray(self.b, F32, vma=self.over_b),
        ]

    def lower_val(self, value: Any) -> Any:
        return value.a, value.b

    def raise_val(self, *arrays: Any) -> Any:
        return Pair(*arrays)

    def tangent_type(self) -> Any:
        return self

    def mapped(self, size: int, spec: Any) -> Any:
        return PairType(self.a[1:], self.b[1:], self.over_a, self.over_b)

    def unmapped(self, size: int, spec: Any) -> Any:
        return PairType((size, *self.a), (size, *self.b), self.over_a, self.over_b)

    def shard(self, mesh: Any, manual_axes: Any, check_vma: bool, spec: Any) -> Any:
        over = [frozenset(n for p in s for n in axes_of(p)) for s in (spec.a, spec.b)]
        over = over if check_vma else [manual_axes] * 2
        sizes = [_sized(n, s, mesh, True) for n, s in ((self.a, spec.a), (self.b, spec.b))]
        return PairType(*sizes, *over)

    def unshard(self, mesh: Any, check_vma: bool, spec: Any) -> Any:
        return PairType(_sized(self.a, spec.a, mesh, False), _sized(self.b, spec.b, mesh, False))


def _type_of(x: Pair) -> PairType:
    a, b = dovetail.typeof(x.a), dovetail.typeof(x.b)
    return PairType(a.shape, b.shape, a.vma, b.vma)


hijax.register_hitype(Pair, _type_of)


class Dot(hijax.VJPHiPrimitive):
    def __init__(self, aval: Any) -> None:
        self.in_avals = aval, aval
        self.out_aval = ShapedArray((), F32, vma=aval.over_a | aval.over_b)
        self.params = {}
        super().__init__()

    def expand(self, x: Any, y: Any) -> Any:
        return (x.a * y.a).sum() + (x.b**2 * y.b).sum()

    def vjp_fwd(self, nonzero: Any, x: Any, y: Any) -> Any:
        return self(x, y), (x, y)

    def vjp_bwd_retval(self, kept: Any, g: Any) -> Any:
        x, y = kept
        return Back(dovetail.typeof(x), dovetail.typeof(g), True)(x, y, g), Back(
            dovetail.typeof(x), dovetail.typeof(g), False
        )(x, y, g)


class Back(hijax.VJPHiPrimitive):
    def __init__(self, aval: Any, g: Any, first: bool) -> None:
        self.in_avals, self.out_aval = (aval, aval, g), aval
        self.params = {"first": first}
        super().__init__()

    def expand(self, x: Any, y: Any, g: Any) -> Any:
        if self.first:
            return self._pair(y.a * g, 2 * x.b * y.b * g)
        return self._pair(x.a * g, x.b**2 * g)

    def _pair(self, a: Any, b: Any) -> Any:
        return Pair(_summed(a, self.out_aval.over_a), _summed(b, self.out_aval.over_b))


def _summed(x: Any, over: frozenset[Any]) -> Any:
    more = tuple(dovetail.typeof(x).vma - over)
    return lax.psum(x, more) if more else x


class Swap(hijax.VJPHiPrimitive):
    """Each device's ``a``, plus its number."""

    def __init__(self, aval: Any) -> None:
        self.in_avals, self.out_aval, self.params = (aval,), aval, {}
        super().__init__()

    def expand(self, x: Any) -> Any:
        return Pair(x.a + lax.axis_index("x"), x.b)


X = Pair(np.arange(8, dtype=F32), np.linspace(-1, 1, 8, dtype=F32).reshape(4, 2))
Y = Pair(np.arange(8, dtype=F32) + 1, np.arange(8, dtype=F32).reshape(4, 2))
SPECS = [
    PairSpec(P("x"), P("x", "y")), PairSpec(P(("x", "y")), P(None, "y")),
    PairSpec(P(), P()), PairSpec(P("y"), P("x")),
]  # fmt: skip


def near(result: Any, wanted: Any) -> None:
    np.testing.assert_allclose(result.a, wanted.a, rtol=1e-5)
    np.testing.assert_allclose(result.b, wanted.b, rtol=1e-5)


def dot(x: Any, y: Any) -> Any:
    return Dot(dovetail.typeof(x))(x, y)


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_each_device_has_its_part(mesh, spec, check):
    seen: list[Any] = []

    def f(x: Any) -> Any:
        seen.append(dovetail.typeof(x))
        return x

    g = shard_map(f, mesh=mesh, in_specs=(spec,), out_specs=spec, check_vma=check)
    near(g(X), X)
    near(dovetail.jit(g)(X), X)
    near(dovetail.jit(lambda x: dovetail.jit(g)(g(x)))(X), X)
    assert seen[0].a == _sized((8,), spec.a, mesh, True)
    assert "high_to_parts" in str(dovetail.make_jaxpr(g)(X))


def _total(mesh: Any, spec: Any) -> Any:
    """What is the unsharded ``dot`` where no axis repeats anything."""

    def f(x: Any, y: Any) -> Any:
        value = dot(x, y)
        over = tuple(dovetail.typeof(value).vma)
        return lax.psum(value, over) if over else value

    return shard_map(f, mesh=mesh, in_specs=(spec, spec), out_specs=P())


def test_gradients_are_those_of_the_whole(mesh):
    spec = PairSpec(P(("x", "y")), P("x", "y"))
    f = _total(mesh, spec)
    wanted = dovetail.grad(dot, argnums=(0, 1))(X, Y)
    np.testing.assert_allclose(f(X, Y), dot(X, Y), rtol=1e-6)
    for g in (dovetail.grad(f, argnums=(0, 1)), dovetail.jit(dovetail.grad(f, argnums=(0, 1)))):
        for result, want in zip(g(X, Y), wanted):
            near(result, want)
    linear = dovetail.jvp(lambda x: f(x, Y), (X,), (Y,))[1]
    np.testing.assert_allclose(linear, dovetail.jvp(lambda x: dot(x, Y), (X,), (Y,))[1], rtol=1e-5)


def test_cotangents_of_what_is_whole_are_summed(mesh):
    """Along 'y' all devices have the same ``a``, which the total counts twice."""
    spec = PairSpec(P("x"), P("x", "y"))
    result = dovetail.grad(_total(mesh, spec))(X, Y)
    near(result, Pair(2 * Y.a, 2 * X.b * Y.b))


def test_operations_inside_know_the_axes(mesh):
    spec = PairSpec(P("x"), P("x"))

    def f(x: Any) -> Any:
        return Swap(dovetail.typeof(x))(x)

    for g in (shard_map(f, mesh=mesh, in_specs=(spec,), out_specs=spec),):
        near(dovetail.jit(g)(X), Pair(X.a + np.repeat(np.arange(4), 2), X.b))
        near(g(X), Pair(X.a + np.repeat(np.arange(4), 2), X.b))


def test_over_a_mapped_axis(mesh):
    spec = PairSpec(P("x"), P("x", "y"))
    many = Pair(np.stack([X.a, Y.a, Y.a]), np.stack([X.b, Y.b, X.b]))
    f = shard_map(lambda x: x, mesh=mesh, in_specs=(spec,), out_specs=spec)
    near(dovetail.vmap(f)(many), many)
    near(dovetail.jit(dovetail.vmap(f))(many), many)


class WithoutParts(hijax.HiType):
    def lo_ty(self) -> Any:
        return [ShapedArray((8,), F32)]

    def lower_val(self, value: Any) -> Any:
        return (value.a,)

    def __hash__(self) -> int:
        return 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WithoutParts)


class Single:
    a = np.zeros(8, F32)


hijax.register_hitype(Single, lambda x: WithoutParts())


class Undecided(hijax.HiPspec):
    def to_lo(self) -> Any:
        return (P(),)


def _mapped(mesh: Any, spec: Any, x: Any = X) -> Any:
    return shard_map(lambda v: dnp.zeros(()), mesh=mesh, in_specs=(spec,), out_specs=P())(x)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda mesh: _mapped(mesh, P("x")), TypeError, "Give a hijax.HiPspec, which says how"),
        (lambda mesh: _mapped(mesh, SPECS[0], X.a), TypeError, "Give a PartitionSpec"),
        (
            lambda mesh: _mapped(mesh, Undecided(), Single()),
            NotImplementedError,
            "WithoutParts .* has no method shard, which is needed to pass a value through shard_",
        ),
        (
            lambda mesh: shard_map(
                lambda x: x, mesh=mesh, in_specs=(SPECS[0],), out_specs=PairSpec(P(), P("x", "y"))
            )(X),
            ValueError,
            "array 0 of a result of type .* may differ along the axis 'x'",
        ),
        (
            lambda mesh: dovetail.grad(
                shard_map(
                    dot, mesh=mesh, in_specs=(SPECS[0], SPECS[0]), out_specs=P(), check_vma=False
                )
            )(X, Y),
            NotImplementedError,
            "derivatives with respect to values of high types need check_vma=True",
        ),
    ],
)  # fmt: skip
def test_errors(mesh, call, error, text):
    with pytest.raises(error, match=text):
        call(mesh)
