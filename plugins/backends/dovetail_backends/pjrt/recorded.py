"""Facts of modules: from the operations that were emitted, or that MLIR reads in a text.

Emitting an operation keeps references to its parts, and no more. These are only looked into where
facts are asked for: before a module is compiled for the CPU.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .emitter import Emitted, ModuleText, Region, Val
from .facts import ATTRIBUTES, ArrayType, Collector, ModuleFacts
from .text import Attributes, element_type


class ModuleRecord:
    """The operations of a module that was written here, until its facts are asked for.

    Args:
        text: the whole module.
        outs: the types of its results.
        shardings: those of its arguments and results, with the numbers of these's dimensions.
    """

    __slots__ = ("text", "_emitted", "_facts")

    def __init__(
        self,
        text: str,
        module: ModuleText,
        outs: Sequence[Any],
        shardings: Sequence[tuple[Any, int]],
    ) -> None:
        self.text = text
        self._emitted: Any = module, outs, shardings
        self._facts: ModuleFacts | None = None

    def facts(self) -> ModuleFacts:
        """The facts of the module; the operations are let go."""
        emitted = self._emitted
        if self._facts is None:
            self._facts = _facts(*emitted)
            self._emitted = None
        return self._facts

    def __reduce__(self) -> Any:
        """It is of this process: pickled, it is None."""
        return _nothing, ()


def _nothing() -> None:
    return None


def _facts(
    module: ModuleText, outs: Sequence[Any], shardings: Sequence[tuple[Any, int]]
) -> ModuleFacts:
    collector = Collector()
    _collect(collector, _Types(), module.operations, module.blocks)
    partition = module.partition
    said = partition is not None and any(partition.attribute(*s) is not None for s in shardings)
    return collector.facts(list(map(_array_type, outs)), said)


def _collect(
    collector: Collector,
    types: _Types,
    operations: Sequence[Emitted],
    blocks: Iterable[Sequence[Val]],
) -> None:
    for values in blocks:
        collector.values([types[x] for x in values])
    for name, operands, results, attributes, regions in operations:
        made = [results] if isinstance(results, Val) else results
        collector.operation(
            name, types.pairs(operands), types.pairs(made), _attribute(name, attributes)
        )
        for region in regions:
            if isinstance(region, Region):
                _collect(collector, types, region.operations, region.blocks)


class _Types(dict[str, ArrayType]):
    """The types of values, by their text."""

    def __getitem__(self, x: Val) -> ArrayType:  # type: ignore[override]
        result = self.get(x.type)
        if result is None:
            result = self[x.type] = _array_type(x.aval)
        return result

    def pairs(self, values: Iterable[Val]) -> list[tuple[Val, ArrayType]]:
        """Values and their types."""
        return [(x, self[x]) for x in values]


def _array_type(aval: Any) -> ArrayType:
    return ArrayType(aval.shape, element_type(aval.dtype))


def _attribute(name: str, attributes: str) -> Any:
    wanted = ATTRIBUTES.get(name)
    if wanted is None or not (attributes == "" or isinstance(attributes, Attributes)):
        return None
    given = attributes.values if isinstance(attributes, Attributes) else {}
    return getattr(given[wanted], "value", None) if wanted in given else ()


def facts_of_text(text: str) -> ModuleFacts | None:
    """The facts of a module that was not written here, or was changed since; None where MLIR cannot
    read it."""
    from dovetail_xla import mlir, mlir_operations

    try:
        module = mlir.parse(text)
        result = mlir_operations.of_functions(module)
    except ValueError:  # compiling it says what is wrong with it
        return None
    collector = Collector()
    collector.values([ArrayType(*t) for t in result.blocks])
    for name, operands, results, read in result.operations:
        ins, outs = ([(x, ArrayType(*t)) for x, t in values] for values in (operands, results))
        wanted = ATTRIBUTES.get(name)
        collector.operation(name, ins, outs, None if wanted is None else read(wanted))
    return collector.facts([ArrayType(*t) for t in result.results], result.has_shardings)
