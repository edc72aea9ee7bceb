"""References to values of high types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail import lax, ref as dref
from dovetail.hijax import HiPrimitive, HiType, ShapedArray, register_hitype


@dataclass(frozen=True)
class PairType(HiType):
    """Two numbers."""

    def lo_ty(self) -> list[Any]:
        return [ShapedArray((), "float32")] * 2

    def lower_val(self, value: Pair) -> list[Any]:
        return [value.a, value.b]

    def raise_val(self, *arrays: Any) -> Pair:
        return Pair(*arrays)

    def tangent_type(self) -> PairType:
        return self

    def str_short(self) -> str:
        return "pair"


@dataclass(frozen=True, eq=False)
class Pair:
    """Two numbers."""

    a: Any
    b: Any


register_hitype(Pair, lambda p: PairType())


class Turn(HiPrimitive):
    """(a, b) becomes (b, k a)."""

    def abstract_eval(self, p: Any, *, k: float) -> PairType:
        return PairType()

    def to_lo(self, p: Pair, *, k: float) -> Pair:
        return Pair(p.b, k * p.a)

    def jvp(self, primals: Any, tangents: Any, *, k: float) -> Any:
        return turn_p.bind(*primals, k=k), turn_p.bind(*tangents, k=k)


turn_p = Turn("tests.turn")


def shown(p: Any) -> tuple[float, float]:
    return float(p.a), float(p.b)


def pair() -> Pair:
    return Pair(np.float32(1.0), np.float32(2.0))


def test_at_rest() -> None:
    ref = dovetail.new_ref(pair())
    assert shown(ref[...]) == (1.0, 2.0)
    ref[...] = turn_p.bind(ref[...], k=3.0)
    assert shown(ref[...]) == (2.0, 3.0)
    dref.addupdate(ref, ..., pair())
    assert shown(dref.swap(ref, ..., pair())) == (3.0, 5.0)
    assert shown(dovetail.freeze(ref)) == (1.0, 2.0)


@pytest.mark.parametrize("closed", [False, True])
def test_compiled(closed: bool) -> None:
    ref, value = dovetail.new_ref(pair()), pair()

    def f(ref: Any) -> Any:
        inner = dovetail.new_ref(ref[...])
        inner[...] = turn_p.bind(inner[...], k=3.0)
        ref[...] = inner[...]
        return dovetail.freeze(inner)

    out = dovetail.jit(lambda: f(ref))() if closed else dovetail.jit(f)(ref)
    assert shown(out) == shown(ref[...]) == (2.0, 3.0)
    assert shown(value) == (1.0, 2.0)


def test_in_loops_and_branches() -> None:
    ref = dovetail.new_ref(pair())

    def body(c: Any, _: Any) -> Any:
        ref[...] = turn_p.bind(ref[...], k=2.0)
        return c, None

    for run in (lax.scan, dovetail.jit(lax.scan, static_argnums=(0,), static_argnames="length")):
        ref[...] = pair()
        run(body, 0.0, None, length=3)
        assert shown(ref[...]) == (4.0, 4.0)

    def write() -> None:
        ref[...] = pair()

    lax.cond(True, write, lambda: None)
    assert shown(ref[...]) == (1.0, 2.0)


def test_forward_mode() -> None:
    def f(p: Any) -> Any:
        ref = dovetail.new_ref(p)
        ref[...] = turn_p.bind(ref[...], k=3.0)
        dref.addupdate(ref, ..., p)
        return dovetail.freeze(ref)

    value, tangent = dovetail.jvp(f, (pair(),), (Pair(np.float32(10.0), np.float32(0.0)),))
    assert shown(value) == (3.0, 5.0)
    assert shown(tangent) == (10.0, 30.0)


def test_errors() -> None:
    ref = dovetail.new_ref(pair())
    with pytest.raises(
        TypeError, match=r"a reference to a value of type pair is indexed at .*whole"
    ):
        ref[0]
    with pytest.raises(TypeError, match=r"a value of type f32\[\]~ is written to Ref\{pair\} at"):
        ref[...] = 1.0
    with pytest.raises(TypeError, match=r"a value of type pair is written to Ref\{f32\[3\]\}"):
        dovetail.new_ref(dnp.zeros(3))[...] = pair()
