"""Functions built with MLIR's Python bindings, as text; functions moved from module to module."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import bindings as _b
from .loading import load
from .mlir import context, dialects as dialects, new_context as new_context

_REFERENCE = r'@(?:"([^"]*)"|([\w$.-]+))'

Settle = Callable[[str, Any], tuple[str, bool]]
"""(symbol, key of its definition) -> (final name, whether its text is needed)."""


class InvalidFunction(ValueError):
    """A function that was built is invalid; the message is the end of a sentence about it."""


def ir() -> Any:
    """The module of MLIR's Python bindings."""
    return load("mlir.ir")


def dialect(name: str) -> Any:
    """The module of the operations of a dialect: ``"stablehlo"``."""
    return load(f"mlir.dialects.{name}")


def function_texts(
    name: str,
    ins: Sequence[str],
    outs: Sequence[str],
    build: Callable[..., Sequence[Any]],
    settle: Settle,
) -> tuple[str, list[str]]:
    """A private function in generic text form, whose body is built with MLIR's Python bindings, and
    the texts of other symbols that were put into its module.

    Args:
        ins, outs: its types, as text.
        build: ``build(module, insertion_point, arguments, result_types)`` returns an `ir.Value` for
            each result. The context, a location and the insertion point are set.
        settle: returns the final names of the other symbols of the module.

    Raises:
        InvalidFunction: results are not such values, or the module does not verify.
    """
    mlir, func = ir(), dialect("func")
    with context(), mlir.Location.unknown():
        module = mlir.Module.create()  # it owns what is built
        types = [mlir.Type.parse(t) for t in ins], [mlir.Type.parse(t) for t in outs]
        with mlir.InsertionPoint(module.body):
            made = func.FuncOp(name, mlir.FunctionType.get(*types), visibility="private")
        with mlir.InsertionPoint(made.add_entry_block()) as point:
            results = values_of(build(module, point, list(made.arguments), types[1]))
            _check_results(results, types[1], mlir.Value)
            func.ReturnOp(results)
        try:
            module.operation.verify()
        except mlir.MLIRError as error:
            message = " ".join(str(error).split())
            raise InvalidFunction(f"built what is not valid: {message}. Correct it.") from None
        others = _settled(module, name, settle)
        return _text(made), others


def values_of(result: Any) -> list[Any]:
    """Values among values, operations (their results), None (no results) and sequences of these."""
    if result is None:
        return []
    if type(result).__name__ in ("list", "tuple", "OpResultList"):
        return [value for x in result for value in values_of(x)]
    results = getattr(result, "results", None)
    return [result] if results is None else list(results)


def _check_results(results: Sequence[Any], types: Sequence[Any], value: type) -> None:
    result = [str(x.type) if isinstance(x, value) else type(x).__name__ for x in results]
    wanted = [str(t) for t in types]
    if result != wanted:
        raise InvalidFunction(
            f"returned ({', '.join(result)}), but the operation's results are "
            f"({', '.join(wanted)}). Make it return one value per result, of that type."
        )


def _text(op: Any) -> str:
    return op.operation.get_asm(print_generic_op_form=True, use_local_scope=True)


def _symbol(op: Any) -> str:
    """The name of an operation, or an empty string."""
    attributes = op.operation.attributes
    return attributes["sym_name"].value if "sym_name" in attributes else ""


def _settled(module: Any, name: str, settle: Settle) -> list[str]:
    """The texts of a module's symbols beside the function ``name``, under their final names."""
    others = [op for op in module.body.operations if _symbol(op) != name]
    named = {s: _text(op) for op in others if (s := _symbol(op))}
    final = {s: settle(s, _closure(s, named)) for s in named}
    rename(module, {s: new for s, (new, _) in final.items()})
    needed = {new for new, is_needed in final.values() if is_needed}
    for op in others:
        if not _symbol(op) and settle("", text := _text(op))[1]:
            needed.add(text)
    return [f"{_text(op)}\n" for op in others if (_symbol(op) or _text(op)) in needed]


def _closure(name: str, texts: Mapping[str, str]) -> tuple[Any, ...]:
    """The definition of a symbol: its name and text, and those of all symbols that it refers to."""
    result, waiting = {name}, [name]
    while waiting:
        for quoted, plain in re.findall(_REFERENCE, texts[waiting.pop()]):
            symbol = quoted or plain
            if symbol in texts and symbol not in result:
                result.add(symbol)
                waiting.append(symbol)
    return name, *((s, texts[s]) for s in sorted(result))


def rename(module: Any, names: Mapping[str, str]) -> None:
    """Rename symbols of a module and all references to them; names may be swapped."""
    table = ir().SymbolTable
    by_name = {_symbol(op): op for op in module.body.operations}
    changed = {old: new for old, new in names.items() if old != new}
    between = {old: f"{old} on its way" for old in changed}
    for step in (between, {between[old]: new for old, new in changed.items()}):
        for old, new in step.items():
            table.replace_all_symbol_uses(old, new, module.operation)
            op = by_name[new] = by_name.pop(old)
            table.set_symbol_name(op, new)


def merge(into: Any, name: str, module: Any, entry: str = "main") -> str:
    """Move all of one module (or its text) into another one of its context, its entry as ``name``.

    Returns the name of the entry there, a private function. A name that is taken gets a number.
    """
    if isinstance(module, str):
        module = ir().Module.parse(module, into.context)
    taken = {_symbol(op) for op in into.body.operations}
    own = {_symbol(op) for op in module.body.operations} - {"", entry}
    names = {entry: _free(name, taken)}
    for symbol in sorted(own):
        names[symbol] = _free(symbol, taken)
    rename(module, names)
    private = ir().StringAttr.get("private", into.context)
    for op in list(module.body.operations):
        if _symbol(op) == names[entry]:
            op.operation.attributes["sym_visibility"] = private
        into.body.append(op)
    return names[entry]


def _free(wanted: str, taken: set[str]) -> str:
    """A name that is not in ``taken``, to which it is added."""
    name, n = wanted, 0
    while name in taken:
        name, n = f"{wanted}_{n}", n + 1
    taken.add(name)
    return name


def call(name: str, operands: Sequence[Any], types: Sequence[Any]) -> list[Any]:
    """The results of a call of a function, at the current insertion point."""
    callee = ir().FlatSymbolRefAttr.get(name)
    return list(dialect("func").CallOp(list(types), callee, list(operands)).results)


def symbol(module: Any, name: str) -> Any:
    """The operation of a name in a module."""
    return next(op for op in module.body.operations if _symbol(op) == name)


def tree_registry() -> Any:
    """The registry in which sequences of values and types are trees."""
    return _sequences


_sequences = _b.PyTreeRegistry(
    enable_none=False,
    enable_tuple=True,
    enable_namedtuple=False,
    enable_list=True,
    enable_dict=False,
)
