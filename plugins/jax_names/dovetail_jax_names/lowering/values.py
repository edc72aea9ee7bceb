"""Constants, types and attributes of MLIR for those of programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from dovetail_backends import dense, element_type, tensor_type
from dovetail_core import ShapedArray, low_types, lower_values, typeof
from dovetail_xla import mlir_functions as bindings

_constant_handlers: dict[type, Callable[..., Any]] = {}


def aval_to_ir_types(ctx: Any, aval: Any) -> tuple[Any, ...]:
    """The ``ir.Type`` of each array that a value of a type is made of.

    Raises:
        TypeError: such values have no MLIR type.
    """
    handler = next((ir_type_handlers[c] for c in type(aval).__mro__ if c in ir_type_handlers), None)
    if handler is None:
        raise TypeError(f"there is no MLIR type for {aval!r} of type {type(aval).__name__}")
    return tuple(handler(aval))


def aval_to_ir_type(ctx: Any, aval: Any) -> Any:
    """The ``ir.Type`` of a type that is one array.

    Raises:
        TypeError: such values have no MLIR type, or are made of several arrays.
    """
    result = aval_to_ir_types(ctx, aval)
    if len(result) != 1:
        raise TypeError(f"{aval} is made of {len(result)} arrays: use aval_to_ir_types")
    return result[0]


def _array_types(aval: ShapedArray) -> Sequence[Any]:
    parse = bindings.ir().Type.parse
    return [parse(tensor_type(a)) for a in (low_types([aval]) if aval.is_high else [aval])]


ir_type_handlers: dict[type, Callable[[Any], Sequence[Any]]] = {ShapedArray: _array_types}
"""Per class of types, what makes their ``ir.Type``; libraries add theirs."""


def dtype_to_ir_type(dtype: Any) -> Any:
    """The ``ir.Type`` of an element type."""
    return bindings.ir().Type.parse(element_type(np.dtype(dtype)))


def token_type() -> Any:
    """The ``ir.Type`` of tokens."""
    return bindings.dialect("stablehlo").TokenType.get()


def register_constant_handler(type_: type, handler_fun: Callable[..., Any]) -> None:
    """Say how values of a class become constants: ``handler_fun(value, aval)`` returns an
    ``ir.Value``, or a sequence of them."""
    _constant_handlers[type_] = handler_fun


def ir_constants(val: Any, *, const_lowering: Any = None, aval: Any = None) -> tuple[Any, ...]:
    """Constants at the current insertion point: one for each array that a value is made of.

    Raises:
        TypeError: the value is none of an array.
    """
    known = (const_lowering or {}).get((id(val), aval))
    if known is not None:
        return tuple(bindings.values_of(known))
    for c in type(val).__mro__:
        if c in _constant_handlers:
            return tuple(bindings.values_of(_constant_handlers[c](val, aval)))
    try:
        result: Any = typeof(val)
    except TypeError:
        raise TypeError(f"a value of type {type(val).__name__} is no constant: {val!r}") from None
    if result.is_high:
        return tuple(_constant(np.asarray(x)) for x in lower_values([val], "made a constant"))
    dtype = aval.dtype if aval is not None else getattr(val, "dtype", result.dtype)
    return (_constant(np.asarray(val, dtype)),)


def ir_constant(val: Any, *, const_lowering: Any = None, aval: Any = None) -> Any:
    """A constant at the current insertion point.

    Raises:
        TypeError: the value is none of one array.
    """
    result = ir_constants(val, const_lowering=const_lowering, aval=aval)
    if len(result) != 1:
        raise TypeError(f"{val!r} is made of {len(result)} arrays: use ir_constants")
    return result[0]


def _constant(value: np.ndarray[Any, Any]) -> Any:
    return bindings.dialect("stablehlo").constant(_elements(value))


def _elements(value: np.ndarray[Any, Any]) -> Any:
    """An array as an attribute."""
    if value.dtype.names is not None:  # float0: it holds nothing
        value = np.zeros(value.shape, bool)
    if value.dtype.kind == "c":  # what the bindings cannot parse
        element = dtype_to_ir_type(value.dtype)
        flat = np.ascontiguousarray(value)
        return bindings.ir().DenseElementsAttr.get(flat, type=element, shape=value.shape)
    aval = ShapedArray(value.shape, value.dtype)
    text = dense(value)
    if value.dtype == np.bool_ and '"' in text:  # raw bytes of i1 depend on MLIR's version
        text = f"dense<{str(value.tolist()).lower()}>"
    return bindings.ir().Attribute.parse(f"{text} : {tensor_type(aval)}")


def dense_int_elements(xs: Any) -> Any:
    """Integers as an attribute of elements of 64 bits."""
    return _elements(np.asarray(xs, np.int64))


def dense_int_array(xs: Sequence[int]) -> Any:
    """Integers as an attribute of an array of 64 bits."""
    return bindings.ir().DenseI64ArrayAttr.get(list(xs))


def i32_attr(i: int) -> Any:
    """An integer as an attribute of 32 bits."""
    ir = bindings.ir()
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(32), int(i))


def i64_attr(i: int) -> Any:
    """An integer as an attribute of 64 bits."""
    ir = bindings.ir()
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), int(i))


def ir_attribute(val: Any) -> Any:
    """The ``ir.Attribute`` of a Python value: numbers, strings, arrays, dtypes, and sequences and
    dictionaries of these.

    Raises:
        TypeError: there is none for such a value.
    """
    ir = bindings.ir()
    if isinstance(val, ir.Attribute):
        return val
    if isinstance(val, str):
        return ir.StringAttr.get(val)
    if isinstance(val, (bool, np.bool_)):
        return ir.BoolAttr.get(bool(val))
    if isinstance(val, (list, tuple)):
        return ir.ArrayAttr.get([ir_attribute(x) for x in val])
    if isinstance(val, dict):
        return ir.DictAttr.get({k: ir_attribute(x) for k, x in val.items()})
    if isinstance(val, np.dtype) or (isinstance(val, type) and issubclass(val, np.generic)):
        return ir.TypeAttr.get(dtype_to_ir_type(val))
    return _of_numbers(ir, val)


def _of_numbers(ir: Any, val: Any) -> Any:
    array = np.asarray(val)
    kind = array.dtype.kind
    if isinstance(val, np.ndarray):
        return _elements(array)
    if isinstance(val, (int, np.integer)):
        return ir.IntegerAttr.get(dtype_to_ir_type(array.dtype), int(val))
    if isinstance(val, (float, np.generic)) and kind in "fV":  # V: those of ml_dtypes
        return ir.FloatAttr.get(dtype_to_ir_type(array.dtype), float(val))
    raise TypeError(f"there is no MLIR attribute for {val!r} of type {type(val).__name__}")


def shape_tensor(ctx: Any, sizes: Sequence[Any]) -> Any:
    """Sizes (integers, or scalars of the program) as an array of int32 of the program."""
    ir, hlo = bindings.ir(), bindings.dialect("stablehlo")
    if not sizes:
        return _constant(np.zeros(0, np.int32))
    one = ir.RankedTensorType.get([1], ir.IntegerType.get_signless(32))
    parts = [
        _constant(np.array([s], np.int32))
        if isinstance(s, (int, np.integer))
        else hlo.reshape(one, hlo.convert(_int32(), s))
        for s in sizes
    ]
    return parts[0] if len(parts) == 1 else hlo.concatenate(parts, 0)


def _int32() -> Any:
    return bindings.ir().Type.parse("tensor<i32>")


def flatten_ir_values(xs: Iterable[Any]) -> list[Any]:
    """All values among values and sequences of values."""
    return bindings.values_of(list(xs))


def flatten_ir_types(xs: Iterable[Any]) -> list[Any]:
    """All types among types and sequences of types."""
    return [t for x in xs for t in (flatten_ir_types(x) if isinstance(x, (list, tuple)) else [x])]


def unflatten_ir_values_like_types(xs: Iterable[Any], ys: Sequence[Any]) -> list[Any]:
    """Values one by one where ``ys`` has a type, as a tuple where it has a sequence of types."""
    rest = iter(xs)
    return [
        tuple(next(rest) for _ in y) if isinstance(y, (list, tuple)) else next(rest) for y in ys
    ]
