"""StableHLO modules: parsed, checked, transformed, printed, saved; MLIR loads when first used."""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _bindings as _b
from ._bindings import (
    deserialize_portable_artifact as deserialize_portable_artifact,
    hlo_to_stablehlo as hlo_to_stablehlo,
    refine_polymorphic_shapes as refine_polymorphic_shapes,
    serialize_portable_artifact as serialize_portable_artifact,
)
from ._lazy import load
from .fork import renew_in_child

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
    """The module after passes such as "canonicalize,cse"; changed in place if it is an object.

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
    told = any(len(ir.DictAttr(a)) for a in own)
    if not names or told or len(names) != len(type_of_main(module)[1]):
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
