"""Registries of rules: live views of Dovetail's rule tables, by JAX's calling conventions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

from dovetail_core import Primitive, RuleTable

Rule = Callable[..., Any]
REGISTERS_FOR_OTHERS = True  # origins of rules are the lines that set them here


class RuleView(MutableMapping[Primitive, Rule]):
    """A rule table as a dictionary from primitives to rules of another calling convention.

    What is set here is in the table at once, and what is read is the rule as it was set, or the
    table's own by this convention. A primitive is in it if the table has or can derive a rule.

    Args:
        table: the rule table.
        adopt: makes the table's rule of an author's: ``adopt(primitive, rule)``.
        present: makes a rule as authors call it of the table's: ``present(primitive, rule)``.
    """

    def __init__(
        self,
        table: RuleTable[Any],
        adopt: Callable[[Primitive, Rule], Rule],
        present: Callable[[Primitive, Rule], Rule],
    ) -> None:
        self._table, self._adopt, self._present = table, adopt, present
        self._set: dict[Primitive, tuple[Rule, Rule]] = {}
        self._shown: dict[Primitive, tuple[Rule, Rule]] = {}

    def __setitem__(self, primitive: Primitive, rule: Rule) -> None:
        adopted = self._adopt(primitive, rule)
        self._table.set(primitive, adopted, override=True)
        self._set[primitive] = adopted, rule

    def __getitem__(self, primitive: Primitive) -> Rule:
        ours = self._table.get(primitive)
        if ours is None:
            raise KeyError(primitive)
        for known in (self._set, self._shown):
            result = known.get(primitive)
            if result is not None and result[0] is ours:
                return result[1]
        shown = self._present(primitive, ours)
        self._shown[primitive] = ours, shown
        return shown

    def __delitem__(self, primitive: Primitive) -> None:
        self._table.withdraw(primitive)
        self._set.pop(primitive, None)

    def __contains__(self, primitive: object) -> bool:
        return isinstance(primitive, Primitive) and self._table.get(primitive) is not None

    def __iter__(self) -> Iterator[Primitive]:
        self._table.fill()
        return iter(list(self._table.rules))

    def __len__(self) -> int:
        self._table.fill()
        return len(self._table.rules)

    def __repr__(self) -> str:
        return f"<rules of {self._table.name}: {len(self)}>"


def as_it_is(primitive: Primitive, rule: Rule) -> Rule:
    """The rule itself, where conventions agree."""
    return rule
