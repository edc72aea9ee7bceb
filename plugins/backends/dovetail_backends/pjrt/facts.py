"""Facts of a module, by which compile options are chosen: kinds of operations, types, uses.

They are collected from the operations that a builder has emitted, or that MLIR reads in a text, and
only when they are needed: before a module is compiled for the CPU. An emitted operation is recorded
by references to its parts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, NamedTuple

from .emitter import Emitted, ModuleText, Region, Val
from .text import Attributes, element_type

ATTRIBUTES = {
    "stablehlo.constant": "value",
    "stablehlo.dot_general": "dot_dimension_numbers",
    "stablehlo.pad": "interior_padding",
    "stablehlo.reduce": "dimensions",
    "stablehlo.reduce_window": "base_dilations",
}
"""The attribute that is a part of the facts, by the operation that has it."""
FOLLOWED = frozenset(("stablehlo.concatenate",))
"""Operations whose results' uses are a part of the facts."""


class ArrayType(NamedTuple):
    """The type of an array: its shape, and its element type in StableHLO (``"f32"``)."""

    shape: tuple[int, ...]
    element: str

    @property
    def size(self) -> int:
        """The number of its elements."""
        return prod(self.shape)


class Kind(NamedTuple):
    """The properties that some operations of a module have in common.

    Attributes:
        name: with the dialect: ``"stablehlo.add"``.
        operands, results: their types.
        attribute: the value of the one in ``ATTRIBUTES``: integers as a tuple, dimension numbers as
            pairs of a name and such a tuple, the integer that fills a constant; empty if the
            operation lacks it, and None if it is unknown.
    """

    name: str
    operands: tuple[ArrayType, ...]
    results: tuple[ArrayType, ...]
    attribute: Any = None


@dataclass(frozen=True)
class ModuleFacts:
    """Facts of a module.

    Functions and regions count once, however often they are called or run.

    Attributes:
        kinds: the number of operations of each kind, terminators of regions and functions included.
        types: the types of all values.
        results: the types of the results of ``main``.
        uses: the names of operations that use results of an operation in ``FOLLOWED``, by its name.
        has_shardings: True if arguments or results of ``main`` have shardings.
    """

    kinds: Mapping[Kind, int]
    types: frozenset[ArrayType]
    results: tuple[ArrayType, ...]
    uses: Mapping[str, frozenset[str]]
    has_shardings: bool

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """The number of operations of each name."""
        result = Counter[str]()
        for kind, count in self.kinds.items():
            result[kind.name] += count
        return result

    @cached_property
    def computations(self) -> frozenset[str]:
        """The names, without dialects, of operations that compute: those of StableHLO and CHLO."""
        pairs = [name.partition(".") for name in self.counts]
        return frozenset(name for dialect, _, name in pairs if dialect in ("stablehlo", "chlo"))

    @cached_property
    def dialects(self) -> frozenset[str]:
        """The dialects of its operations."""
        return frozenset(name.partition(".")[0] for name in self.counts)

    @cached_property
    def largest(self) -> int:
        """The number of elements of the largest array."""
        return max((t.size for t in self.types), default=1)

    def of(self, name: str) -> Iterable[tuple[Kind, int]]:
        """The kinds of operations of a name, each with the number of its operations."""
        return [(kind, count) for kind, count in self.kinds.items() if kind.name == name]


class Collector:
    """Collects facts of operations one by one; values are identified by keys."""

    def __init__(self) -> None:
        self._kinds = Counter[Kind]()
        self._types: set[ArrayType] = set()
        self._followed: dict[Hashable, str] = {}
        self._uses: dict[str, set[str]] = defaultdict(set)

    def operation(
        self,
        name: str,
        operands: Sequence[tuple[Hashable, ArrayType]],
        results: Sequence[tuple[Hashable, ArrayType]],
        attribute: Any,
    ) -> None:
        """Count an operation on values (their keys and types), after those that it uses."""
        ins, outs = tuple([t for _, t in operands]), tuple([t for _, t in results])
        self._kinds[Kind(name, ins, outs, attribute)] += 1
        if name in FOLLOWED:
            self._followed.update((key, name) for key, _ in results)
        if self._followed:
            for key, _ in operands:
                if key in self._followed:
                    self._uses[self._followed[key]].add(name)

    def values(self, types: Iterable[ArrayType]) -> None:
        """Add types of values that need not be an operation's: the arguments of a block."""
        self._types.update(types)

    def facts(self, results: Sequence[ArrayType], has_shardings: bool) -> ModuleFacts:
        """The facts of the operations so far."""
        types = self._types.union(*[(*k.operands, *k.results) for k in self._kinds])
        uses = {name: frozenset(users) for name, users in self._uses.items()}
        return ModuleFacts(dict(self._kinds), frozenset(types), tuple(results), uses, has_shardings)


class ModuleRecord:
    """The operations that a builder emitted, until the facts of the module are computed.

    Args:
        text: the text of the module.
        outs: the types of its results.
        shardings: the shardings of its arguments and results, each with the number of dimensions.
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
        """The facts of the module; the first call releases the operations."""
        emitted = self._emitted
        if self._facts is None:
            self._facts = _facts(*emitted)
            self._emitted = None
        return self._facts

    def __reduce__(self) -> Any:
        """A record belongs to its process: unpickled, it is None."""
        return type(None), ()


def _facts(
    module: ModuleText, outs: Sequence[Any], shardings: Sequence[tuple[Any, int]]
) -> ModuleFacts:
    collector = Collector()
    _collect(collector, _Types(), module.operations, module.blocks)
    partition = module.partition
    has_shardings = partition is not None and any(
        partition.attribute(*s) is not None for s in shardings
    )
    return collector.facts(list(map(_array_type, outs)), has_shardings)


def _collect(
    collector: Collector,
    types: _Types,
    operations: Sequence[Emitted],
    blocks: Iterable[Sequence[Val]],
) -> None:
    for values in blocks:
        collector.values([types[x] for x in values])
    for name, operands, results, attributes, regions in operations:
        outs = [results] if isinstance(results, Val) else results
        collector.operation(
            name, types.pairs(operands), types.pairs(outs), _attribute(name, attributes)
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
    key = ATTRIBUTES.get(name)
    if key is None or not (attributes == "" or isinstance(attributes, Attributes)):
        return None
    given = attributes.values if isinstance(attributes, Attributes) else {}
    return getattr(given[key], "value", None) if key in given else ()


def facts_of_text(text: str) -> ModuleFacts | None:
    """The facts of a module from its text; None if MLIR cannot read it."""
    from dovetail_xla import mlir

    try:
        module = mlir.parse(text)
        result = mlir.functions_of(module)
    except ValueError:  # its compilation raises the error
        return None
    collector = Collector()
    collector.values([ArrayType(*t) for t in result.blocks])
    for name, operands, results, read in result.operations:
        ins, outs = ([(x, ArrayType(*t)) for x, t in values] for values in (operands, results))
        key = ATTRIBUTES.get(name)
        collector.operation(name, ins, outs, None if key is None else read(key))
    return collector.facts([ArrayType(*t) for t in result.results], result.has_shardings)
