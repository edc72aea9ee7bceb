"""Checkpointed loops whose state is a value of a high type: a pair of arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad, jvp
from dovetail_batching import vmap
from dovetail_core import HiType, register_hitype, typeof
from dovetail_core.types.algebra import algebra, zeros_like_aval
from dovetail_hijax import HiPrimitive, instantiate_zeros
from dovetail_jit import jit
from dovetail_remat import Binomial, Online, Periodic
from dovetail_tree.util import tree_leaves


@dataclass(frozen=True)
class PairType(HiType):
    """The type of a pair of arrays."""

    first: Any
    second: Any

    def lo_ty(self) -> list[Any]:
        return [self.first, self.second]

    def lower_val(self, value: Pair) -> list[Any]:
        return [value.first, value.second]

    def raise_val(self, *arrays: Any) -> Pair:
        return Pair(*arrays)

    def tangent_type(self) -> PairType:
        return PairType(self.first.tangent_type(), self.second.tangent_type())

    def mapped(self, size: int, spec: Any) -> PairType:
        return PairType(
            *(t.update(shape=t.shape[:spec] + t.shape[spec + 1 :]) for t in self.lo_ty())
        )

    def unmapped(self, size: int, spec: Any) -> PairType:
        shapes = [(*t.shape[:spec], size, *t.shape[spec:]) for t in self.lo_ty()]
        return PairType(*(t.update(shape=s) for t, s in zip(self.lo_ty(), shapes)))


@dataclass(frozen=True, eq=False)
class Pair:
    """Two arrays."""

    first: Any
    second: Any


register_hitype(Pair, lambda p: PairType(typeof(p.first).strong(), typeof(p.second).strong()))


class Make(HiPrimitive):
    """A pair of two arrays."""

    def abstract_eval(self, first: Any, second: Any) -> PairType:
        return PairType(first.strong(), second.strong())

    def to_lo(self, first: Any, second: Any) -> Pair:
        return Pair(first, second)

    def jvp(self, primals: Any, tangents: Any) -> Any:
        ts = map(instantiate_zeros, tangents)
        return self.bind(*primals), self.bind(*ts)

    def transpose(self, cotangent: Any, first: Any, second: Any) -> Any:
        return [part(cotangent, 0), part(cotangent, 1)]

    def batch(self, axis: Any, args: Any, dims: Any) -> Any:
        n = axis.size
        whole = [
            algebra().broadcast(x, n, 0) if d is None else algebra().move_axis(x, d, 0)
            for x, d in zip(args, dims)
        ]
        return self.bind(*whole), 0


class Part(HiPrimitive):
    """One of the two arrays of a pair."""

    def abstract_eval(self, pair: PairType, *, which: int) -> Any:
        return pair.lo_ty()[which]

    def to_lo(self, pair: Pair, *, which: int) -> Any:
        return (pair.first, pair.second)[which]

    def jvp(self, primals: Any, tangents: Any, *, which: int) -> Any:
        return part(primals[0], which), part(tangents[0], which)

    def transpose(self, cotangent: Any, pair: Any, *, which: int) -> Any:
        parts = [zeros_like_aval(t) for t in pair.aval.cotangent_type().lo_ty()]
        parts[which] = cotangent
        return [make_p.bind(*parts)]

    def batch(self, axis: Any, args: Any, dims: Any, *, which: int) -> Any:
        return part(args[0], which), dims[0]


make_p, part_p = Make("loops_test.make"), Part("loops_test.part")


def part(pair: Any, which: int) -> Any:
    """One of the two arrays of a pair."""
    return part_p.bind(pair, which=which)


def pendulum(scheme: Any) -> Any:
    """The last angle after 20 steps, and the sum of all, from a first state."""

    def step(state: Any, force: Any) -> Any:
        angle, speed = part(state, 0), part(state, 1)
        speed = lax.add(speed, lax.mul(np.float32(0.1), lax.sub(force, lax.sin(angle))))
        angle = lax.add(angle, lax.mul(np.float32(0.1), speed))
        return make_p.bind(angle, speed), angle

    def f(state: Any, forces: Any) -> Any:
        last, angles = lax.scan(step, state, forces, checkpoint=scheme)
        return lax.add(part(last, 0), lax.reduce_sum_p.bind(angles, axes=(0,)))

    return f


def arrays(x: Any) -> list[Any]:
    """The numbers in a result that may hold pairs."""
    result: list[Any] = []
    for leaf in tree_leaves(x):
        result += [leaf.first, leaf.second] if isinstance(leaf, Pair) else [leaf]
    return [np.asarray(v) for v in result]


@pytest.mark.parametrize("scheme", [Binomial(3), Online(2), Periodic(4)], ids=repr)
def test_gradients_with_respect_to_pairs(scheme: Any) -> None:
    forces = np.linspace(0, 1, 20, dtype=np.float32)
    state = Pair(np.float32(1), np.float32(0.5))
    plain, result = pendulum(None), pendulum(scheme)
    for use in (
        lambda f: f(state, forces),
        lambda f: jit(f)(state, forces),
        lambda f: jvp(f, (state, forces), (state, forces)),
        lambda f: grad(f, (0, 1))(state, forces),
        lambda f: jit(grad(f, (0, 1)))(state, forces),
        lambda f: vmap(grad(f), (None, 0))(state, np.stack([forces, -forces])),
        lambda f: grad(lambda s: grad(lambda t: f(s, t))(forces)[3])(state),
    ):
        for a, b in zip(arrays(use(plain)), arrays(use(result)), strict=True):
            np.testing.assert_allclose(b, a, rtol=2e-5)
