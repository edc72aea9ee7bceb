"""Values as they are: parts of complex numbers, choice, conversion, identities."""

from __future__ import annotations

import builtins
from typing import Any, NoReturn, TypeVar, cast

import numpy as np

from dovetail_core import ExtendedDType, Tracer, get_trace, here, high_algebra
from dovetail_tree.util import tree_flatten, tree_map, tree_unflatten

from ..dtypes import as_dtype, dtype_of
from ..element_types import warn_imaginary
from ..primitives.values import (
    bitcast_convert_type_p,
    clamp_p,
    complex_p,
    conj_p,
    convert_element_type_p,
    dce_sink_p,
    imag_p,
    optimization_barrier_p,
    real_p,
    select_n_p,
    stage_p,
    stop_gradient_p,
)
from ..scalars import PYTHON_SCALARS, integer_as
from .operands import Array, ArrayLike, binary, check, nary, operands, unary


def real(x: ArrayLike) -> Array:
    """The real part of complex numbers."""
    return unary(real_p, x)


def imag(x: ArrayLike) -> Array:
    """The imaginary part of complex numbers."""
    return unary(imag_p, x)


def complex(x: ArrayLike, y: ArrayLike) -> Array:
    """``x + i y`` of two real operands, float32 or float64."""
    return binary(complex_p, x, y)


def conj(x: ArrayLike) -> Array:
    """The complex conjugate; real operands become complex."""
    return unary(conj_p, x)


def select(pred: ArrayLike, on_true: ArrayLike, on_false: ArrayLike) -> Array:
    """``on_true`` where ``pred``, else ``on_false``.

    ``pred`` is boolean; all are of one shape, or scalar.
    """
    return select_n(pred, on_false, on_true)


def select_n(which: ArrayLike, *cases: ArrayLike) -> Array:
    """``cases[which]`` for each element; all are of one shape, or scalar.

    Args:
        which: booleans (False chooses the first of at most two cases), or integers.

    Raises:
        ValueError: there is no case.
        TypeError: cases differ in type, or ``which`` has a wrong one.
    """
    if not cases:
        raise ValueError("lax.select_n takes at least one case")
    for case in cases:
        if case.__class__ in PYTHON_SCALARS:
            cases = operands("select_n", cases)
            break
        check("select_n", case)
    check("select_n", which)
    return select_n_p.bind(which, *cases)


def clamp(min: ArrayLike, x: ArrayLike, max: ArrayLike) -> Array:
    """``x``, or the bound that it is beyond; all are of one shape, or scalar."""
    return nary(clamp_p, (min, x, max))


def convert_element_type(operand: ArrayLike, new_dtype: Any) -> Array:
    """``operand`` with elements of type ``new_dtype``, not weakly typed.

    Floating-point numbers are truncated to integers, and what is out of range saturates; integers
    wrap around, Python's of up to 64 bits too, and of any size become other numbers; complex
    numbers lose their imaginary part, with a warning.

    Raises:
        ValueError: ``new_dtype`` is None.
        TypeError: ``operand`` is a Python complex number, and ``new_dtype`` one of real numbers.
    """
    if new_dtype is None:
        raise ValueError("lax.convert_element_type needs a dtype, got None")
    wanted = as_dtype(new_dtype)
    keep_imaginary("convert_element_type", operand, wanted)
    return convert(operand, wanted, False)


def keep_imaginary(name: str, operand: ArrayLike, dtype: Any) -> None:
    """Warn of an array's imaginary parts that are lost in ``dtype``.

    Raises:
        TypeError: ``operand`` is a Python complex number, and ``dtype`` one of real numbers.
    """
    if operand.__class__ is builtins.complex and dtype.kind not in "cb":
        raise TypeError(
            f"lax.{name}: {operand} is no number of dtype {dtype}{here()}. Pass its real part."
        )
    warn_imaginary(getattr(operand, "dtype", dtype), dtype)


def convert(operand: ArrayLike, dtype: Any, weak_type: bool) -> Array:
    """``operand`` as type ``dtype`` (canonical), weak or not; itself if it has that type."""
    if hasattr(operand.__class__, "__jax_array__"):
        operand = cast(Any, operand).__jax_array__()
    if operand.__class__ is int:
        operand = integer_as(operand, dtype)
    aval = check("convert_element_type", operand)
    if aval.dtype == dtype and aval.weak_type == weak_type and hasattr(operand, "aval"):
        return operand
    if aval.is_high or isinstance(dtype, ExtendedDType):
        return _convert_extended(operand, aval, dtype)
    params = {"new_dtype": dtype, "weak_type": weak_type}
    return get_trace().process(convert_element_type_p, (operand,), params)


def _convert_extended(operand: Any, aval: Any, dtype: Any) -> Array:
    """Numbers as elements of an extended dtype, or these as numbers.

    Raises:
        ValueError: that dtype does not allow the conversion.
    """
    old = aval.dtype
    if old == dtype:
        return operand
    if isinstance(old, ExtendedDType):
        if not isinstance(dtype, ExtendedDType) and old.converts_to(dtype):
            return convert(old.arrays_of(operand)[0], dtype, False)
        _refuse_conversion(old, dtype, old.remedy)
    if not dtype.converts_from(old):
        _refuse_conversion(old, dtype, dtype.remedy)
    array = convert(operand, dtype.low[0], False)
    return high_algebra().make(aval.update(dtype=dtype, weak_type=False), [array])


def _refuse_conversion(old: Any, new: Any, remedy: str) -> NoReturn:
    raise ValueError(
        f"lax.convert_element_type cannot convert {old.name} to {new.name}{here()}. {remedy}"
    )


def bitcast_convert_type(operand: ArrayLike, new_dtype: Any) -> Array:
    """The bits of ``operand`` read as ``new_dtype``.

    To a narrower type the result has one more axis, from a wider one it has one less; bits of
    lower significance come first. Not for booleans and complex numbers.
    """
    check("bitcast_convert_type", operand)
    return bitcast_convert_type_p.bind(operand, new_dtype=as_dtype(new_dtype))


def dtype(x: Any) -> Any:
    """The element type of an array or scalar, or that which a dtype-like value names."""
    return dtype_of(x)


T = TypeVar("T")


def stop_gradient(x: T) -> T:
    """``x`` (an array or a pytree of arrays), as a constant to differentiation."""
    if isinstance(x, Tracer):
        return stop_gradient_p.bind(x)
    return tree_map(_stop, x)


def _stop(x: Any) -> Any:
    if isinstance(x, Tracer):
        return stop_gradient_p.bind(x)
    aval = check("stop_gradient", x)
    if isinstance(x, (np.ndarray, np.generic)) and x.dtype != aval.dtype:
        return x.astype(aval.dtype)  # 64 bits where there are none
    return x


def optimization_barrier(operand: T, /) -> T:
    """``operand`` (a pytree of arrays); compilers move no operation across."""
    leaves, tree = tree_flatten(operand)
    for x in leaves:
        check("optimization_barrier", x)
    return tree_unflatten(tree, optimization_barrier_p.bind(*leaves) if leaves else [])


def stage(x: ArrayLike, /) -> Array:
    """``x``, a number or a NumPy array, as a value of the program that is being traced.

    Outside of any trace it is an array.
    """
    check("stage", x)
    return stage_p.bind(x)


def dce_sink(val: Any, *, prevent_mlir_dce: bool = False) -> None:
    """Use ``val``, a pytree of arrays: what computes it is not removed from a program as dead.

    Args:
        prevent_mlir_dce: whether it also stays in what the compiler is given, and is computed.
    """
    for x in tree_flatten(val)[0]:
        check("dce_sink", x)
        dce_sink_p.bind(x, prevent_mlir_dce=bool(prevent_mlir_dce))
