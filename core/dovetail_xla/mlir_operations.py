"""The operations and types in a module that MLIR has read, as plain values."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from ._lazy import load
from .mlir import main_of

Type = tuple[tuple[int, ...], str]
"""A shape and an element type (``"f32"``); the text of other types."""
Value = tuple[Hashable, Type]
"""A key of a value, and its type."""
Operation = tuple[str, Sequence[Value], Sequence[Value], Callable[[str], Any]]
"""A name, operands, results, and :func:`_attribute` of its attributes by name."""

_SHARDING = "sdy.sharding"


class Functions(NamedTuple):
    """The contents of the functions of a module.

    Attributes:
        operations: each after those whose results it uses, those of regions included.
        blocks: the types of the arguments of functions and regions.
        results: the types of the results of ``main``.
        has_shardings: True if arguments or results of ``main`` have shardings.
    """

    operations: list[Operation]
    blocks: list[Type]
    results: list[Type]
    has_shardings: bool


def of_functions(module: Any) -> Functions:
    """The contents of the functions of an ``ir.Module``.

    Raises ValueError if there is no function ``main``.
    """
    ir, main = load("mlir.ir"), main_of(module)
    signature = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
    made = Functions([], [], list(map(_type, signature.results)), _has_shardings(main))
    for function in module.body.operations:
        if function.operation.name == "func.func":
            _read(function.operation, made)
    return made


def _read(operation: Any, into: Functions) -> None:
    for region in operation.regions:
        for block in region.blocks:
            into.blocks.extend([_type(x.type) for x in block.arguments])
            for each in block.operations:
                op = each.operation
                operands, results = list(_values(op.operands)), list(_values(op.results))
                _read(op, into)
                into.operations.append((op.name, operands, results, partial(_attribute, op)))


def _values(result: Any) -> Iterator[Value]:
    return ((x, _type(x.type)) for x in result)


def _type(result: Any) -> Type:
    ir = load("mlir.ir")
    if not isinstance(result, ir.RankedTensorType) or not result.has_static_shape:
        return (), str(result)
    return tuple(result.shape), str(result.element_type)


def _has_shardings(main: Any) -> bool:
    ir = load("mlir.ir")
    said = [main.attributes[x] for x in ("arg_attrs", "res_attrs") if x in main.attributes]
    return any(_SHARDING in ir.DictAttr(each) for all in said for each in ir.ArrayAttr(all))


def _attribute(operation: Any, name: str) -> Any:
    """An attribute: integers of an array as a tuple, dimension numbers of products as pairs of a
    name and integers, the integer that fills an array; empty where the operation lacks it, and None
    where it is something else."""
    ir = load("mlir.ir")
    if name not in operation.attributes:
        return ()
    try:
        result = operation.attributes[name]
    except TypeError:  # some constants' attributes have no class in the bindings
        return None
    if isinstance(result, ir.DenseI64ArrayAttr):
        return tuple(result)
    if isinstance(result, ir.DenseIntElementsAttr):
        element = str(ir.ShapedType(result.type).element_type)
        is_filled = result.is_splat and element.lstrip("u") in ("i8", "i16", "i32", "i64")
        return result[0] if is_filled else None
    numbers = load("mlir._mlir_libs._stablehlo").DotDimensionNumbers
    if not numbers.isinstance(result):
        return None
    return tuple([(field, tuple(getattr(numbers(result), field))) for field in _DOT])


_DOT = (
    "lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions",
    "rhs_contracting_dimensions",
)  # fmt: skip
