"""The law of high types, tried on values of such types among operands and results of samples."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from dovetail_core import AbstractValue, HiType, MissingMethod, lower_values, typeof
from dovetail_high.types import low_parts

from .laws import law
from .oracles import assert_same, random_like
from .samples import Sample

ELEMENTS = 3


def _has_high(sample: Sample) -> bool:
    every = (*(typeof(x) for x in sample.operands), *sample.infer().avals)
    return any(isinstance(a, HiType) for a in every)


@law("types", applies=_has_high, mixed=False)
def type_law(sample: Sample) -> None:
    """A high value is its arrays; its tangents are a vector space; an axis of it can be mapped.

    Methods that a type does not define (``tangent_type``, ``mapped``) are not tried.
    """
    for value in (*sample.operands, *sample.flat()):
        aval = typeof(value)
        if isinstance(aval, HiType):
            _round_trip(aval, value)
            _optional(_tangents, aval)
            _optional(_mapping, aval, value)


def _optional(check: Any, *args: Any) -> None:
    with suppress(MissingMethod):
        check(*args)


def _arrays(aval: HiType, value: Any) -> list[np.ndarray[Any, Any]]:
    return [np.asarray(x) for x in low_parts(value, aval, "asked for by the law of types")]


def _raised(aval: HiType, arrays: list[Any], what: str) -> Any:
    """The result of ``raise_val``, which must agree with ``lower_val`` and ``lo_ty``."""
    value = aval.raise_val(*arrays)
    assert typeof(value) == aval, f"{what}: raise_val made a value of type {typeof(value)}: {aval}"
    for i, (x, y) in enumerate(zip(_arrays(aval, value), arrays, strict=True)):
        assert_same(x, y, f"{what}: array {i} after raise_val and lower_val")
    return value


def _round_trip(aval: HiType, value: Any) -> None:
    again = typeof(value)
    assert again == aval and hash(again) == hash(aval), (
        f"{aval} is not equal to itself, or its hash"
    )
    _raised(aval, _arrays(aval, value), "round trip")
    # Other numbers show errors that the value's own, if several are equal, do not.
    _raised(aval, [random_like(t, i) for i, t in enumerate(aval.lo_ty())], "round trip")


def _tangents(aval: HiType) -> None:
    tangent = aval.tangent_type()
    again = tangent.tangent_type()
    assert again == tangent, f"tangents of {tangent} are of type {again}: a tangent's are its own"
    assert aval.cotangent_type().tangent_type() == aval.cotangent_type(), "cotangents' tangents"
    if not isinstance(tangent, HiType):
        return
    zero = tangent.make_zero()
    assert typeof(zero) == tangent, f"make_zero made a value of type {typeof(zero)}: {tangent}"
    some = _raised(tangent, [random_like(t, i) for i, t in enumerate(tangent.lo_ty())], "tangent")
    for total in (tangent.add_tangents(zero, some), tangent.add_tangents(some, zero)):
        assert typeof(total) == tangent, f"add_tangents made a value of type {typeof(total)}"
        for x, y in zip(_arrays(tangent, total), _arrays(tangent, some)):
            assert_same(x, y, "a tangent and zero")
    double = tangent.add_tangents(some, some)
    for x, y in zip(_arrays(tangent, double), _arrays(tangent, some)):
        assert_same(x, y + y, "the sum of two tangents")


def _mapping(aval: HiType, value: Any) -> None:
    """Assert that elements stacked along the leading axis have the type of ``unmapped``."""
    spec = aval.leading_spec()
    full: AbstractValue = aval.unmapped(ELEMENTS, spec)
    assert isinstance(full, HiType), f"unmapped made {full} of {aval}"
    element = full.mapped(ELEMENTS, spec)
    assert element == aval, f"mapped made {element} of unmapped {aval}: they are inverse"
    axes = full.lo_axes(spec)
    assert full.axis_size(spec) == ELEMENTS, f"axis {spec!r} has length {full.axis_size(spec)}"
    arrays = [
        x if d is None else np.stack([x] * ELEMENTS, d) for x, d in zip(_arrays(aval, value), axes)
    ]
    stacked = _raised(full, arrays, "stacked")
    assert len(lower_values([stacked], "asked for by the law of types")) == len(arrays)
