"""Facts of a module, by which compile options are chosen: kinds of operations, types, uses."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, NamedTuple

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
    """The type of an array: its shape, and its element type as StableHLO spells it (``"f32"``)."""

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
            pairs of a name and such a tuple, the integer that fills a constant; empty where the
            operation lacks it, and None where it is not known.
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
        kinds: the kinds of its operations, those that end regions and functions among them, and how
            many operations there are of each.
        types: those of all values.
        results: those of what its function ``main`` returns.
        uses: the names of operations that use results of an operation in ``FOLLOWED``, by its name.
        has_shardings: whether shardings of arguments or results of ``main`` are said.
    """

    kinds: Mapping[Kind, int]
    types: frozenset[ArrayType]
    results: tuple[ArrayType, ...]
    uses: Mapping[str, frozenset[str]]
    has_shardings: bool

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """How many operations have a name."""
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
        """The kinds of operations of a name, and how many there are of each."""
        return [(kind, count) for kind, count in self.kinds.items() if kind.name == name]


class Collector:
    """Makes facts from operations one by one; values are told apart by keys."""

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
        """Note types of values that no operation need have: the arguments of a block."""
        self._types.update(types)

    def facts(self, results: Sequence[ArrayType], has_shardings: bool) -> ModuleFacts:
        """The facts of the operations so far."""
        types = self._types.union(*[(*k.operands, *k.results) for k in self._kinds])
        uses = {name: frozenset(users) for name, users in self._uses.items()}
        return ModuleFacts(dict(self._kinds), frozenset(types), tuple(results), uses, has_shardings)
