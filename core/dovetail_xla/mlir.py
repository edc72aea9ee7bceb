"""StableHLO modules: parsed, checked, transformed, printed, saved, and read operation by operation.

MLIR is loaded when it is first used.
"""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from . import bindings as _b
from .bindings import (
    deserialize_portable_artifact as deserialize_portable_artifact,
    hlo_to_stablehlo as hlo_to_stablehlo,
    refine_polymorphic_shapes as refine_polymorphic_shapes,
    serialize_portable_artifact as serialize_portable_artifact,
)
from .fork import renew_in_child
from .loading import load

_thread = threading.local()
_lock = threading.Lock()
renew_in_child(_lock)
_dialects: Any = None
_passes_known = False

# Bytecode names its producer; parsed as plain bytecode, an artifact would stay in the VHLO dialect.
_PORTABLE = rb"(?s)ML\xefR.StableHLO_v"


def context() -> Any:
    """This thread's MLIR context, with every dialect that jaxlib has."""
    result = getattr(_thread, "context", None)
    if result is None:
        result = _thread.context = new_context()
    return result


def new_context() -> Any:
    """An MLIR context with every dialect that jaxlib has."""
    # The extension modules alone: with the dialects' Python modules it takes 180 ms, not 25.
    made = load("mlir.ir").Context()
    made.append_dialect_registry(dialects())
    made.enable_multithreading(False)  # else each context starts a pool of threads
    for dialect in [load(f"mlir._mlir_libs.{d}") for d in ("_stablehlo", "_chlo", "_sdy")]:
        dialect.register_dialect(made)
    made.load_all_available_dialects()
    return made


def dialects() -> Any:
    """The registry of MLIR's own dialects: func, arith and others."""
    global _dialects
    ir, extension = load("mlir.ir"), load("mlir._mlir_libs._jax_mlir_ext")
    with _lock:  # in which nothing is imported: see base.once
        if _dialects is None:
            result = ir.DialectRegistry()
            extension.register_dialects(result)
            _dialects = result
    return _dialects


def _register_passes() -> None:
    global _passes_known
    stablehlo, hlo = load("mlir.dialects.stablehlo"), load("mlir._mlir_libs._mlirHlo")
    with _lock:
        if not _passes_known:
            stablehlo.register_stablehlo_passes()
            hlo.register_mhlo_passes()
            _passes_known = True


def parse(source: str | bytes) -> Any:
    """An `ir.Module` from text, bytecode or a portable artifact.

    Raises ValueError with the position of the error.
    """
    if isinstance(source, bytes) and re.match(_PORTABLE, source):
        return from_portable_artifact(source)
    ir = load("mlir.ir")
    with context():
        try:
            return ir.Module.parse(source)
        except ir.MLIRError as error:
            raise ValueError(f"not a valid module: {error}") from error


def _module(module: Any) -> Any:
    return parse(module) if isinstance(module, (str, bytes)) else module


def pretty(module: Any, locations: bool = False) -> str:
    """The module (object, text or bytecode) as readable StableHLO text."""
    return _module(module).operation.get_asm(enable_debug_info=locations)


def verify(module: Any) -> None:
    """Raises ValueError with all diagnostics if the module is malformed."""
    ir = load("mlir.ir")
    try:
        _module(module).operation.verify()
    except ir.MLIRError as error:
        raise ValueError(f"the module is malformed: {error}") from error


def run_passes(module: Any, pipeline: str) -> Any:
    """The module after passes such as "canonicalize,cse"; an object is modified and returned.

    Raises ValueError for an unknown pass and for a pass that fails.
    """
    ir, passmanager = load("mlir.ir"), load("mlir.passmanager")
    module = _module(module)
    _register_passes()
    text = pipeline if pipeline.startswith("builtin.module(") else f"builtin.module({pipeline})"
    with module.context:
        try:
            manager = passmanager.PassManager.parse(text)
        except ValueError as error:
            raise ValueError(f"bad pass pipeline {pipeline!r}: {error}") from error
        try:
            manager.run(module.operation)
        except ir.MLIRError as error:
            raise ValueError(f"the pass pipeline {pipeline!r} failed: {error}") from error
    return module


def type_of_main(module: Any) -> tuple[list[str], list[str]]:
    """The types of what the function ``main`` of a module (object, text or bytecode) takes and
    returns.

    Raises ValueError if there is no such function.
    """
    ir = load("mlir.ir")
    attribute = main_of(_module(module)).attributes["function_type"]
    result = ir.FunctionType(ir.TypeAttr(attribute).value)
    return list(map(str, result.inputs)), list(map(str, result.results))


def main_of(module: Any) -> Any:
    """The operation that is the function ``main`` of an `ir.Module`.

    Raises ValueError if there is none.
    """
    ir = load("mlir.ir")
    for each in module.body.operations:
        attributes = each.operation.attributes
        if "sym_name" in attributes and ir.StringAttr(attributes["sym_name"]).value == "main":
            return each.operation
    raise ValueError("a module without a function main")


def name_results(module: Any, names: Sequence[str]) -> None:
    """Write names of the results of ``main`` into the module (an object), as attributes. Nothing is
    written if their number differs, or if any result has attributes already."""
    ir, main = load("mlir.ir"), main_of(module)
    own = list(ir.ArrayAttr(main.attributes["res_attrs"])) if "res_attrs" in main.attributes else []
    has_attributes = any(len(ir.DictAttr(a)) for a in own)
    if not names or has_attributes or len(names) != len(type_of_main(module)[1]):
        return
    with module.context:
        noted = [ir.DictAttr.get({"jax.result_info": ir.StringAttr.get(_utf8(n))}) for n in names]
        main.attributes["res_attrs"] = ir.ArrayAttr.get(noted)


def name_arguments(module: Any, names: Sequence[str]) -> None:
    """Set the locations of the last arguments of ``main`` (of an object) to their names; arguments
    before them, and those whose name is empty, keep theirs."""
    ir, arguments = load("mlir.ir"), list(main_of(module).regions[0].blocks[0].arguments)
    for argument, name in zip(reversed(arguments), reversed(names)):
        if name:
            argument.set_location(ir.Location.name(_utf8(name), context=module.context))


def _utf8(name: str) -> str:
    """A name in which lone surrogates, which are not valid UTF-8, are escaped."""
    return name.encode(errors="backslashreplace").decode()


def type_of(text: str) -> Any:
    """An `ir.Type` from its text."""
    return load("mlir.ir").Type.parse(text, context())


def bytecode(module: Any) -> bytes:
    """MLIR bytecode of a module, for the same jaxlib version; see `portable_artifact`."""
    buffer = io.BytesIO()
    _module(module).operation.write_bytecode(file=buffer)
    return buffer.getvalue()


def bytecode_on_any_thread(text: str) -> bytes:
    """:func:`bytecode` for code that XLA calls on a thread of its own, which must not have a
    context, since Python cannot run at the thread's end."""
    buffer = io.BytesIO()
    with new_context():
        load("mlir.ir").Module.parse(text).operation.write_bytecode(file=buffer)
    return buffer.getvalue()


def computation(module: Any) -> Any:
    """The module as XLA's own object, before any optimisation."""
    return _b.mlir_module_to_xla_computation(bytecode(module), False, False)


def hlo_text(module: Any) -> str:
    """The module as HLO text, before any optimisation."""
    return computation(module).as_hlo_text()


def portable_artifact(module: Any, version: str | None = None) -> bytes:
    """StableHLO's compatible form, readable by other versions; `version` is the oldest reader.

    Without `version`, consumers built up to 12 weeks before this jaxlib can read it. The module
    is not changed (the function of the same name in jaxlib's dialect would turn it into VHLO).
    """
    if version is None:
        stablehlo = load("mlir.dialects.stablehlo")
        requirement = stablehlo.StablehloCompatibilityRequirement.WEEK_12
        version = str(stablehlo.get_version_from_compatibility_requirement(requirement))
    return _b.serialize_portable_artifact(_module(module), version)


def from_portable_artifact(artifact: bytes) -> Any:
    """The `ir.Module` of a portable artifact. Raises ValueError if it cannot be read."""
    ir = load("mlir.ir")
    made = context()
    try:
        result = _b.deserialize_portable_artifact(artifact, made)
    except (ir.MLIRError, ValueError, RuntimeError) as error:
        raise ValueError(f"not a readable StableHLO artifact: {error}") from error
    return result


def evaluate(module: Any, arguments: Sequence[Any]) -> list[Any]:
    """The results of `main` by StableHLO's own interpreter: slow, and independent of XLA."""
    ir, stablehlo = load("mlir.ir"), load("mlir.dialects.stablehlo")
    module = _module(module)
    with module.context:
        values = [ir.DenseElementsAttr.get(np.ascontiguousarray(a)) for a in arguments]
        return [np.array(result) for result in stablehlo.eval_module(module, values)]


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


def functions_of(module: Any) -> Functions:
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
    sharding_attributes = [
        main.attributes[x] for x in ("arg_attrs", "res_attrs") if x in main.attributes
    ]
    return any(
        _SHARDING in ir.DictAttr(each) for all in sharding_attributes for each in ir.ArrayAttr(all)
    )


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
