"""Arguments of public functions: keys, shapes, dtypes and parameters, and their errors."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base.arguments import array_of
from dovetail_core import (
    Cache,
    ExtendedDType,
    cached,
    canonical_dtype,
    enable_x64,
    here,
    is_inexact,
    type_shardings,
)
from dovetail_lax import dtypes
from dovetail_lax.errors import ShapeError

from .generators import implementation, note_raw
from .implementations import Implementation, KeyType
from .keys import UINTS, Key, KeyArray, in_key_shape, in_words
from .primitives import random_unwrap_p, random_wrap_p

Shape = tuple[int, ...]
NUMBERS = (bool, int, float, complex)


def check_key(name: str, key: Any) -> Any:
    """``key``, or the result of its ``__jax_array__``, if that is one single key, typed or raw.

    Raises:
        TypeError: it is no key.
        ValueError: it is an array of several keys.
    """
    if is_typed(key):
        shape: Shape = key.shape
    elif hasattr(key.__class__, "__jax_array__"):
        return check_key(name, array_of(key))
    else:
        impl = implementation()
        check_words(name, key, impl)
        note_raw(name)
        shape = key.shape[: len(key.shape) - len(impl.key_shape)]
    if shape != ():
        raise ValueError(
            f"{name} takes a single key, but was given an array of keys of shape {shape}{here()}. "
            "Use dovetail.vmap to apply it to each of them."
        )
    return key


def is_typed(key: Any) -> bool:
    """True for a typed key or an array of typed keys, traced or not."""
    return key.__class__ is KeyArray or isinstance(getattr(key, "dtype", None), KeyType)


def open_key(key: Any) -> Key:
    """A typed or raw key that was checked, as a typed one."""
    return key if is_typed(key) else wrapped(key, implementation())


def wrapped(raw: Any, impl: Implementation) -> Key:
    """Typed keys of raw ones that were checked."""
    return random_wrap_p.bind(in_words(raw, impl.key_shape), impl=impl)


def unwrapped(keys: Key) -> Any:
    """The raw form of typed keys: their words in the generator's ``key_shape``."""
    return in_key_shape(random_unwrap_p.bind(keys), keys.dtype.impl.key_shape)


def check_words(name: str, words: Any, impl: Implementation) -> None:
    """Raise unless ``words`` is an array of raw keys of ``impl``.

    Raises:
        TypeError: it is not a uint32 array whose last axes are those of the generator's keys.
    """
    dims = impl.key_shape
    axes = f"axis has length {dims[0]}" if len(dims) == 1 else f"axes have the lengths {dims}"
    wanted = (
        f"a uint32 array whose last {axes} (of {impl.name!r}). Make keys "
        "with dovetail.random.key(seed)"
    )
    shape, dtype = getattr(words, "shape", None), getattr(words, "dtype", None)
    if not isinstance(shape, tuple) or dtype is None:
        raise TypeError(f"{name} takes a key, got {words!r}{here()}. A raw key is {wanted}.")
    if isinstance(dtype, ExtendedDType):
        raise TypeError(f"{name} takes raw words of keys, got typed keys of type {dtype}{here()}")
    if dtype != UINTS[32] or shape[-len(dims) :] != dims:
        raise TypeError(
            f"{name} takes a key, got an array of shape {shape} and dtype {dtype}{here()}. A raw "
            f"key is {wanted}."
        )


def shape_of(name: str, shape: Any) -> Shape:
    """A shape argument as a tuple.

    Raises:
        TypeError: it is not a sequence of integers known while tracing.
        ValueError: a dimension is negative.
    """
    if shape.__class__ is not tuple:
        shape = tuple(shape) if isinstance(shape, Iterable) else (shape,)
    for d in shape:
        if d.__class__ is not int or d < 0:
            return _checked_shape(name, shape)
    return shape


def _checked_shape(name: str, shape: tuple[Any, ...]) -> Shape:
    try:
        dims = tuple(operator.index(d) for d in shape)
    except TypeError as e:
        if any(hasattr(d, "aval") for d in shape):
            raise
        raise TypeError(f"{name}: a shape is a sequence of integers, got {shape}{here()}") from e
    if any(d < 0 for d in dims):
        raise ValueError(f"{name}: dimensions of a shape cannot be negative, got {dims}{here()}")
    return dims


def float_dtype(name: str, dtype: Any, *, complex_too: bool = False) -> Any:
    """A dtype argument that must be a floating-point one; None is the default precision's.

    Raises:
        ValueError: it is not.
    """
    if dtype is None:
        return _default_float(enable_x64.value)
    result = dtypes.as_dtype(dtype)
    if not is_inexact(result) or (result.kind == "c" and not complex_too):
        kinds = "float or complex" if complex_too else "float"
        raise ValueError(f"{name}: dtype must be a {kinds} dtype, got {result}{here()}")
    return result


@cached
def _default_float(wide: bool) -> Any:
    """The dtype of Python's floats, in one mode of 64-bit types (the one that is set)."""
    return dtypes.as_dtype(float)


def param_dtype(name: str, dtype: Any, *params: Any) -> Any:
    """The dtype argument of a distribution with parameters; None is the parameters' own."""
    if dtype is None:
        result = dtypes.result_type(*params)
        dtype = result if is_inexact(result) else float
    return float_dtype(name, dtype)


def working_dtype(*params: Any) -> Any:
    """The floating-point dtype in which draws with these parameters are computed."""
    result = dtypes.result_type(*params)
    if is_inexact(result):
        return result
    return canonical_dtype("float64" if result.itemsize == 8 else "float32")


def int_dtype(name: str, dtype: Any, error: type[Exception] = ValueError) -> Any:
    """A dtype argument that must be an integer one of 8 bits or more; None is the default's.

    Raises:
        ValueError, or what ``error`` is: it is not.
    """
    result = dtypes.as_dtype(int if dtype is None else dtype)
    if result.kind not in "iu" or result not in _INTS:
        raise error(f"{name} takes integer dtypes of 8, 16, 32 or 64 bits, got {result}{here()}")
    return result


_INTS = {np.dtype(f"{k}int{n}") for k in ("", "u") for n in UINTS}


def common_shape(name: str, shape: Any, *params: Any) -> Shape:
    """The shape of a draw with parameters: theirs, broadcast, if ``shape`` is None.

    Raises:
        ShapeError: the parameters' shapes do not broadcast to ``shape``.
    """
    shapes = [() if p.__class__ in NUMBERS else tuple(p.shape) for p in params]
    wanted = None if shape is None else shape_of(name, shape)
    if wanted is not None and not any(shapes):
        return wanted
    result = broadcast(*shapes) if wanted is None else broadcast(wanted, *shapes)
    if result is not None and wanted in (None, result):
        return result
    listed = " and ".join(map(str, shapes))
    raise ShapeError(
        f"{name}: parameters of shape {listed} do not broadcast to "
        f"{'one shape' if shape is None else f'shape {wanted}'}{here()}. Leave shape out, or let "
        "its last dimensions be theirs."
    )


def broadcast(*shapes: Shape) -> Shape | None:
    """The shape that ``shapes`` broadcast to, None if they do not."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


def parameter(x: Any, dtype: Any, shape: Shape) -> Any:
    """A parameter in the dtype and shape of the draw; scalars stay scalars."""
    given = dtypes.dtype_of(x)
    if given.kind == "c" and dtype.kind != "c":
        raise dtypes.TypePromotionError(
            f"a parameter of type {given} does not become one of type {dtype}{here()}, which has "
            "no imaginary part. Take x.real."
        )
    if x.__class__ in NUMBERS or isinstance(x, np.generic):
        return dtype.type(x)
    x = lax.convert_element_type(x, dtype)
    if x.shape in ((), shape):
        return x
    skipped = len(shape) - len(x.shape)
    return lax.broadcast_in_dim(x, shape, tuple(range(skipped, len(shape))))


_numbers: Cache[tuple[Any, Any, bool], Any] = Cache()


def number(value: Any, dtype: Any) -> Any:
    """A constant to be combined with operands of a floating-point dtype.

    It is a Python float, the quickest operand, if these have that dtype by themselves, else a
    NumPy scalar.
    """
    key = (value, dtype, enable_x64.state.value)
    result = _numbers.get(key)
    if result is None:
        result = dtype.type(value)
        if dtype == dtypes.as_dtype(float):
            result = float(result)
        _numbers[key] = result
    return result


def arrays(name: str, *params: Any) -> list[Any]:
    """Parameters as arrays or Python numbers.

    Raises:
        TypeError: one is neither.
    """
    result: list[Any] = []
    for p in params:
        if p.__class__ in NUMBERS or hasattr(p, "aval"):
            result.append(p)
        elif (converted := array_of(p)) is not p:
            result += arrays(name, converted)
        elif isinstance(p, (np.ndarray, np.generic)):
            result.append(np.asarray(p, dtypes.canonicalize_dtype(p.dtype)))
        else:
            raise TypeError(
                f"{name} takes arrays and numbers as parameters, got {p!r} of type "
                f"{type(p).__name__}{here()}. Convert it with dovetail.numpy.asarray."
            )
    return result


def is_floating(x: Any) -> bool:
    """True for a parameter that is a real floating-point number or array."""
    return dtypes.issubdtype(dtypes.dtype_of(x), np.floating)


def full_parameter(x: Any, shape: Shape, dtype: Any) -> Any:
    """A parameter as an array of the dtype and shape of the draw."""
    x = parameter(x, dtype, shape)
    return x if hasattr(x, "aval") and x.shape == shape else lax.full(shape, x, dtype)


def check_mode(name: str, mode: str, modes: tuple[str, ...] = ("low", "high")) -> None:
    """Raise unless ``mode`` is one of ``modes``."""
    if mode not in modes:
        raise ValueError(
            f"{name}: mode must be {' or '.join(map(repr, modes))}, got {mode!r}{here()}"
        )


def drawn(
    run: Any, name: str, key: Any, params: tuple[Any, ...], shape: Any, dtype: Any,
    sharding: Any = None, as_dtype: Callable[[str, Any], Any] = float_dtype,
) -> Any:  # fmt: skip
    """``run`` on checked arguments: parameters are arrays or numbers, dtypes by ``as_dtype``."""
    if sharding is not None:
        return type_shardings.with_out_sharding(
            sharding, drawn, run, name, key, params, shape, dtype, None, as_dtype
        )
    key = check_key(name, key)
    params = tuple(arrays(name, *params))
    result = as_dtype(name, dtype)
    return run(key, *params, shape=common_shape(name, shape, *params), dtype=result)
