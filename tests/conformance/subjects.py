"""Primitives with right rules and a sample or two for each: what faults are put into.

A rule takes the primitive first. Samples are those that an author thinks of at first: what shows in
another shape, dtype or value only, the kit must find.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_ad import is_linear
from dovetail_core import Primitive, ShapedArray, algebra, registry, typeof
from dovetail_core.types.effects import IOEffect
from dovetail_testing import Sample

F32 = np.float32
MATRIX = np.array([[0.5, -1.5, 2.0], [3.0, 0.25, -4.0]], F32)
SQUARE = np.array([[0.5, -1.5, 2.0], [3.0, 0.25, -4.0], [1.0, 2.5, -0.75]], F32)
COMPLEX = np.array([1 + 2j, -0.5j, 2 - 1j], np.complex64)
INTEGERS = np.array([7, -7, 12], np.int32)
_numbers = count()

Rules = Mapping[str, Callable[..., Any]]


@dataclass(frozen=True)
class Subject:
    """A primitive's rules by table (and ``type``, ``decomposition``, ``oracle``), and samples."""

    name: str
    rules: Rules
    samples: tuple[tuple[Any, ...], ...]
    params: tuple[dict[str, Any], ...] = ({},)
    multiple_results: bool = False
    effects: frozenset[Any] = frozenset()

    def made(self, changed: Rules | None = None) -> list[Sample]:
        """Samples of a new primitive with these rules, some of them changed."""
        name = f"conformance.{self.name}_{next(_numbers)}"
        p = Primitive(name, multiple_results=self.multiple_results)
        rules = {table: partial(f, p) for table, f in {**self.rules, **(changed or {})}.items()}
        infer, oracle = rules.pop("type"), rules.pop("oracle", None)
        if self.effects:
            p.def_effectful_abstract_eval(lambda *avals, **k: (infer(*avals, **k), self.effects))
        else:
            p.def_abstract_eval(infer)
        if "decomposition" in rules:
            p.def_decomposition(rules.pop("decomposition"))
        for table, rule in rules.items():
            registry().table(table).set(p, rule)
        own = [tuple(np.array(x)[()] for x in args) for args in self.samples]  # one overwrites them
        return [Sample(p, args, k, oracle=oracle) for args in own for k in self.params]


# --- shift: elements move along an axis, zeros come in --------------------------------------------


def shift_type(p: Any, x: Any, *, by: int, axis: int) -> Any:
    if not 0 <= axis < x.ndim:
        raise TypeError(f"there is no axis {axis}")
    return x


def shift_reference(p: Any, x: Any, *, by: int, axis: int) -> Any:
    out = np.roll(x, by, axis)
    places = np.arange(x.shape[axis]) - by
    np.moveaxis(out, axis, 0)[(places < 0) | (places >= x.shape[axis])] = 0
    return out


def pad(b: Any, x: Any, low: int, high: int, axis: int) -> Any:
    def per_axis(name: str, n: int) -> str:
        counts = [n if i == axis else 0 for i in range(x.aval.ndim)]
        return f"{name} = array<i64: {', '.join(map(str, counts))}>"

    edges = [per_axis("edge_padding_low", low), per_axis("edge_padding_high", high)]
    zero = b.constant(0, x.aval.update(shape=()))
    attributes = ", ".join([*edges, per_axis("interior_padding", 0)])
    return b.op("stablehlo.pad", [x, zero], b.out, attributes)


def shift_batch(p: Any, mapped: Any, args: Any, dims: Any, *, by: int, axis: int) -> Any:
    (x,), (dim,) = args, dims
    return p.bind(x, by=by, axis=axis + (dim <= axis)), dim


SHIFT = Subject(
    "shift",
    {
        "type": shift_type,
        "ad.jvp": lambda p, xs, ts, **k: (p.bind(*xs, **k), p.bind(*ts, **k)),
        "ad.transpose": lambda p, ct, x, by, axis: [p.bind(ct, by=-by, axis=axis)],
        "ad.partial_eval": lambda p, trace, args, params: trace.record(p, args, params),
        "batching.batch": shift_batch,
        "backends.stablehlo": lambda p, b, x, by, axis: pad(b, x, by, -by, axis),
        "backends.reference": shift_reference,
    },
    ((MATRIX,),),
    ({"by": 1, "axis": 1}, {"by": -2, "axis": 1}),
)


# --- elementwise operations of two operands -------------------------------------------------------


def agreed(p: Any, x: Any, y: Any, **params: Any) -> Any:
    if x.shape != y.shape or x.dtype != y.dtype:
        raise TypeError(f"operands differ: {x.str_short()}, {y.str_short()}")
    return x.update(weak_type=x.weak_type and y.weak_type)


def compared(p: Any, x: Any, y: Any) -> Any:
    if agreed(p, x, y).dtype.kind == "c":
        raise TypeError("complex numbers have no order")
    return ShapedArray(x.shape, np.bool_)


def whole_numbers(p: Any, x: Any, y: Any) -> Any:
    if agreed(p, x, y).dtype.kind not in "iu":
        raise TypeError("integers only")
    return agreed(p, x, y)


def in_front(args: Any, dims: Any, size: int) -> list[Any]:
    """Operands with the mapped axis in front; what is not mapped is repeated."""
    a = algebra()
    return [
        a.broadcast(x, size, 0) if d is None else a.move_axis(x, d, 0) for x, d in zip(args, dims)
    ]


def elementwise_batch(p: Any, axis: Any, args: Any, dims: Any, **params: Any) -> Any:
    return p.bind(*in_front(args, dims, axis.size), **params), 0


def product_jvp(p: Any, primals: Any, tangents: Any) -> Any:
    (x, y), (dx, dy) = primals, tangents
    terms = [] if dx is None else [p.bind(dx, y)]
    terms += [] if dy is None else [p.bind(x, dy)]
    return p.bind(x, y), terms[0] if len(terms) == 1 else lax.add(*terms)


def product_transpose(p: Any, ct: Any, x: Any, y: Any) -> Any:
    return [p.bind(ct, y), None] if is_linear(x) else [None, p.bind(x, ct)]


PRODUCT = Subject(
    "product",
    {
        "type": agreed,
        "ad.jvp": product_jvp,
        "ad.transpose": product_transpose,
        "batching.batch": elementwise_batch,
        "backends.stablehlo": lambda p, b, x, y: b.op("stablehlo.multiply", [x, y], b.out),
        "backends.reference": lambda p, x, y: x * y,
    },
    ((MATRIX[0], MATRIX[1]), (F32(0.5), F32(3.0)), (COMPLEX, COMPLEX[::-1].copy())),
)


def compare(b: Any, x: Any, y: Any, kind: str = "") -> Any:
    family = {"f": "FLOAT", "i": "SIGNED", "u": "UNSIGNED", "b": "UNSIGNED"}
    kind = kind or family.get(x.aval.dtype.kind, "FLOAT")
    attributes = "comparison_direction = #stablehlo<comparison_direction LT>, compare_type = "
    return b.op(
        "stablehlo.compare", [x, y], b.out, f"{attributes}#stablehlo<comparison_type {kind}>"
    )


LESS = Subject(
    "less",
    {
        "type": compared,
        "ad.jvp": lambda p, xs, ts: (p.bind(*xs), None),
        "batching.batch": elementwise_batch,
        "backends.stablehlo": lambda p, b, x, y: compare(b, x, y),
        "backends.reference": lambda p, x, y: np.less(x, y),
    },
    ((MATRIX[0], MATRIX[1]), (np.abs(INTEGERS).astype(np.uint32), np.array([8, 3, 12], np.uint32))),
)


def quotient_reference(p: Any, x: Any, y: Any) -> Any:
    """Towards zero; x / 0 is -1, as XLA has it."""
    safe = np.where(y == 0, y.dtype.type(1), y)
    exact = np.abs(x.astype(object)) // np.abs(safe.astype(object))
    signed = np.where((x < 0) != (safe < 0), -exact, exact)
    wrapped = np.asarray([int(v) & (2 ** (8 * x.itemsize) - 1) for v in signed.ravel()], np.uint64)
    return np.where(y == 0, np.array(-1).astype(x.dtype), wrapped.astype(x.dtype).reshape(x.shape))


QUOTIENT = Subject(
    "quotient",
    {
        "type": whole_numbers,
        "ad.jvp": lambda p, xs, ts: (p.bind(*xs), None),
        "batching.batch": elementwise_batch,
        "backends.stablehlo": lambda p, b, x, y: b.op("stablehlo.divide", [x, y], b.out),
        "backends.reference": quotient_reference,
    },
    ((np.array([7, 9, 12], np.int32), np.array([2, 4, 5], np.int32)),),
)


def larger_jvp(p: Any, primals: Any, tangents: Any) -> Any:
    (x, y), out = primals, p.bind(*primals)
    dx, dy = (lax.full_like(x, 0) if t is None else t for t in tangents)
    return out, lax.select(lax.gt(x, y), dx, dy)


LARGER = Subject(
    "larger",
    {
        "type": lambda p, x, y: (compared(p, x, y), agreed(p, x, y))[1],
        "ad.jvp": larger_jvp,
        "batching.batch": elementwise_batch,
        "backends.stablehlo": lambda p, b, x, y: b.op("stablehlo.maximum", [x, y], b.out),
        "backends.reference": lambda p, x, y: np.maximum(x, y),
    },
    ((MATRIX[0], MATRIX[1]),),
)


# --- power: |x|² of complex numbers ---------------------------------------------------------------


def power_type(p: Any, x: Any) -> Any:
    if x.dtype.kind != "c":
        raise TypeError("complex numbers only")
    return ShapedArray(x.shape, f"f{x.dtype.itemsize // 2}", x.weak_type)


def _twice(x: Any) -> Any:
    return lax.add(x, x)


POWER = Subject(
    "power",
    {
        "type": power_type,
        "decomposition": lambda p, x: lax.real(lax.mul(x, lax.conj(x))),
        "ad.jvp": lambda p, xs, ts: (
            p.bind(*xs),
            _twice(lax.real(lax.mul(lax.conj(xs[0]), ts[0]))),
        ),
        "backends.reference": lambda p, x: x.real * x.real + x.imag * x.imag,
    },
    ((COMPLEX,),),
)
CONJUGATE = Subject(
    "conjugate",
    {
        "type": lambda p, x: (power_type(p, x), x)[1],
        "decomposition": lambda p, x: lax.conj(x),
        "ad.jvp": lambda p, xs, ts: (p.bind(*xs), p.bind(*ts)),
        "ad.transpose": lambda p, ct, x: [p.bind(ct)],
        "backends.reference": lambda p, x: np.conj(x),
    },
    ((COMPLEX,),),
)


# --- total: the sum over an axis ------------------------------------------------------------------


def total_type(p: Any, x: Any, *, axis: int) -> Any:
    shift_type(p, x, by=0, axis=axis)
    return x.update(shape=x.shape[:axis] + x.shape[axis + 1 :])


def total_batch(p: Any, mapped: Any, args: Any, dims: Any, *, axis: int) -> Any:
    (x,), (dim,) = args, dims
    inner = axis + (dim <= axis)
    return p.bind(x, axis=inner), dim - (dim > inner)


TOTAL = Subject(
    "total",
    {
        "type": total_type,
        "decomposition": lambda p, x, axis: lax.reduce_sum(x, (axis,)),
        "ad.jvp": lambda p, xs, ts, **k: (p.bind(*xs, **k), p.bind(*ts, **k)),
        "ad.transpose": lambda p, ct, x, axis: [algebra().broadcast(ct, x.aval.shape[axis], axis)],
        "batching.batch": total_batch,
        "backends.reference": lambda p, x, axis: np.sum(x, axis, dtype=x.dtype),
    },
    ((SQUARE,),),
    ({"axis": 0}, {"axis": 1}),
)


# --- weigh: the columns of a matrix by a vector ---------------------------------------------------


def weigh_type(p: Any, x: Any, w: Any) -> Any:
    if x.ndim != 2 or w.shape != x.shape[1:] or x.dtype != w.dtype:
        raise TypeError(f"a matrix and a weight per column, got {x.str_short()}, {w.str_short()}")
    return x.update(weak_type=x.weak_type and w.weak_type)


def weigh_batch(p: Any, axis: Any, args: Any, dims: Any) -> Any:
    x, w = in_front(args, dims, axis.size)
    return lax.mul(x, lax.broadcast_in_dim(w, x.shape, (0, 2))), 0


WEIGH = Subject(
    "weigh",
    {
        "type": weigh_type,
        "decomposition": lambda p, x, w: lax.mul(x, lax.broadcast_in_dim(w, x.shape, (1,))),
        "batching.batch": weigh_batch,
        "backends.reference": lambda p, x, w: x * w,
    },
    ((SQUARE, SQUARE[0]),),
)


# --- squash: a decomposition and an oracle --------------------------------------------------------


def squash_type(p: Any, x: Any) -> Any:
    if x.dtype.kind not in "fV":
        raise TypeError("real floating-point numbers only")
    return x


def squash(p: Any, x: Any) -> Any:
    return lax.div(x, lax.add(lax.full_like(x, 1), lax.abs(x)))


def squashed(p: Any, x: Any) -> Any:
    wide = np.asarray(x, np.float64)
    with np.errstate(all="ignore"):
        return (wide / (1 + np.abs(wide))).astype(getattr(x, "dtype", F32))


SQUASH = Subject(
    "squash", {"type": squash_type, "decomposition": squash, "oracle": squashed}, ((MATRIX,),)
)


# --- pair: two results, of which the first needs one operand --------------------------------------


def pair_dce(p: Any, used: Any, eqn: Any) -> Any:
    if not any(used):
        return [False, False], None
    if used[1]:
        return [True, True], eqn
    double = eqn.replace(primitive=lax.add_p, invars=[eqn.invars[0]] * 2, outvars=eqn.outvars[:1])
    return [True, False], double


def pair_jvp(p: Any, primals: Any, tangents: Any) -> Any:
    (x, y), (dx, dy) = primals, tangents
    terms = [] if dx is None else [lax.mul(dx, y)]
    terms += [] if dy is None else [lax.mul(x, dy)]
    second = terms[0] if len(terms) == 1 else lax.add(*terms)
    return p.bind(x, y), [None if dx is None else _twice(dx), second]


PAIR = Subject(
    "pair",
    {
        "type": lambda p, x, y: [x, agreed(p, x, y)],
        "decomposition": lambda p, x, y: [lax.add(x, x), lax.mul(x, y)],
        "ad.jvp": pair_jvp,
        "dce": pair_dce,
        "backends.reference": lambda p, x, y: [x + x, x * y],
    },
    ((MATRIX[0], MATRIX[1]),),
    multiple_results=True,
)


# --- note: its operand, and an effect -------------------------------------------------------------

NOTE = Subject(
    "note",
    {
        "type": lambda p, x: x,
        "eval": lambda p, x: algebra().array(x, typeof(x)),
        "ad.jvp": lambda p, xs, ts: (p.bind(*xs), ts[0]),
        "dce": lambda p, used, eqn: ([True], eqn),
        "backends.reference": lambda p, x: x,
    },
    ((MATRIX,),),
    effects=frozenset({IOEffect("note")}),
)
