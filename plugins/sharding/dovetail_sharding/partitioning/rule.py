"""Sharding rules: which dimensions of operands and results are divided together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import Any

from dovetail_base.source import here, short_repr

BATCHING = "…"
"""Stands, at the beginning of a mapping, for all dimensions that it does not name."""
_NAME = re.compile(r"[A-Za-z]\w*\Z", re.ASCII)
_TOKEN = re.compile(r"\.\.\.|[()]|[^\s()]+")
Rule = Any


def _check_factor(factor: Any, where: str) -> str:
    if not isinstance(factor, str):
        raise ValueError(
            f"{where}{here()} has {short_repr(factor)} of type {type(factor).__name__}: give names "
            "of factors, or in an ArrayMapping a CompoundFactor."
        )
    if not _NAME.match(factor):
        raise ValueError(
            f"{where}{here()} has the factor {factor!r}: names begin with a letter, and have "
            "letters, digits and underscores."
        )
    return factor


class CompoundFactor(tuple[str, ...]):
    """Factors, the slowest first, of which one dimension is the product."""

    __slots__ = ()

    def __new__(cls, *factors: str) -> CompoundFactor:
        if len(factors) < 2:
            raise ValueError(f"CompoundFactor{here()} is of at least two factors, got {factors}.")
        return super().__new__(cls, [_check_factor(f, "CompoundFactor") for f in factors])


class ArrayMapping(tuple[Any, ...]):
    """A factor for each dimension of an array: a name or a :class:`CompoundFactor`.

    The first may be ``BATCHING``, for any number of dimensions.
    """

    __slots__ = ()

    def __new__(cls, *dim_mappings: Any) -> ArrayMapping:
        for i, d in enumerate(dim_mappings):
            if d == BATCHING and i:
                raise ValueError(
                    f"ArrayMapping{here()}: an ellipsis, for batching dimensions, stands at the "
                    f"beginning, got {dim_mappings}."
                )
            if d != BATCHING and not isinstance(d, CompoundFactor):
                _check_factor(d, "ArrayMapping")
        return super().__new__(cls, dim_mappings)

    @property
    def own(self) -> tuple[Any, ...]:
        """The dimensions that are named."""
        return self[1:] if self[:1] == (BATCHING,) else tuple(self)


def _factors(mappings: Iterable[ArrayMapping]) -> Iterator[tuple[str, bool]]:
    """Each factor, with True if it is an entire dimension."""
    for d in (d for m in mappings for d in m.own):
        if isinstance(d, CompoundFactor):
            yield from ((f, False) for f in d)
        else:
            yield d, True


class SdyShardingRule:
    """The factors of the dimensions of operands and results.

    Args:
        operand_mappings, result_mappings: an :class:`ArrayMapping`, or a tuple, for each.
        reduction_factors: factors over which results are sums.
        need_replication_factors: factors that are not to be divided.
        permutation_factors: factors which, divided, make devices exchange parts.
        factor_sizes: the sizes of factors that are in compound ones only.

    Raises:
        ValueError: a factor is not used, has several roles, or its size is missing or known.
    """

    def __init__(
        self,
        operand_mappings: tuple[Any, ...],
        result_mappings: tuple[Any, ...],
        reduction_factors: tuple[str, ...] = (),
        need_replication_factors: tuple[str, ...] = (),
        permutation_factors: tuple[str, ...] = (),
        **factor_sizes: int,
    ) -> None:
        self.operand_mappings = tuple([_mapping(m) for m in operand_mappings])
        self.result_mappings = tuple([_mapping(m) for m in result_mappings])
        self.factor_sizes = factor_sizes
        self.roles = {
            "reduction": tuple(reduction_factors),
            "need_replication": tuple(need_replication_factors),
            "permutation": tuple(permutation_factors),
        }
        result = list(_factors((*self.operand_mappings, *self.result_mappings)))
        entire = {f for f, is_entire in result if is_entire}
        every = dict.fromkeys(f for f, _ in result)
        self._check_roles(every)
        for f in factor_sizes:
            if f not in every or f in entire:
                why = "is a dimension of its own" if f in entire else "is not used"
                raise ValueError(
                    f"SdyShardingRule{here()}: a size is given for the factor {f!r}, which {why}."
                )
        if lacking := [f for f in every if f not in entire and f not in factor_sizes]:
            raise ValueError(
                f"SdyShardingRule{here()}: the factor {lacking[0]!r} is in compound factors only. "
                f"Give its size: {lacking[0]}=2, say."
            )

    def _check_roles(self, every: dict[str, None]) -> None:
        seen: dict[str, str] = {}
        for role, factors in self.roles.items():
            for f in factors:
                if f not in every or f in seen:
                    also = f"is one of {seen[f]}_factors, too" if f in seen else "is not used"
                    raise ValueError(
                        f"SdyShardingRule{here()}: {role}_factors has {f!r}, which {also}."
                    )
                seen[f] = role

    def __repr__(self) -> str:
        ins, outs = map(tuple, self.operand_mappings), map(tuple, self.result_mappings)
        return f"SdyShardingRule({tuple(ins)}, {tuple(outs)}, {self.factor_sizes})"


def _mapping(given: Any) -> ArrayMapping:
    return given if isinstance(given, ArrayMapping) else ArrayMapping(*given)


def parsed(rule: str, roles: dict[str, Any], sizes: dict[str, int]) -> SdyShardingRule:
    """A rule from its notation: ``"... (i k) j, j -> i j"``.

    Raises:
        ValueError: it is none.
    """
    sides = rule.split("->")
    if len(sides) != 2:
        raise ValueError(f"sharding_rule {rule!r}{here()} is not of the form 'i j, j k -> i k'.")
    operands, results = [tuple([_dims(rule, m) for m in s.split(",")]) for s in sides]
    options: Any = {**roles, **sizes}
    return SdyShardingRule(operands, results, **options)


def _dims(rule: str, text: str) -> ArrayMapping:
    result: list[Any] = []
    group: list[str] | None = None
    for token in _TOKEN.findall(text):
        if token == "(" and group is None:
            group = []
        elif token == ")" and group is not None:
            result.append(CompoundFactor(*group) if len(group) > 1 else (group or [""])[0])
            group = None
        elif token in "()" or (token == "..." and group is not None):
            raise ValueError(f"sharding_rule {rule!r}{here()}: {token!r} is out of place.")
        else:
            (result if group is None else group).append(BATCHING if token == "..." else token)
    if group is not None:
        raise ValueError(f"sharding_rule {rule!r}{here()}: a parenthesis is not closed.")
    return ArrayMapping(*result)


class _Sizes:
    """The sizes of factors, in the order in which they come, and their symbols."""

    def __init__(self, given: dict[str, int]) -> None:
        self.given = given
        self.sizes: dict[str, int] = {}

    def note(self, factor: str, size: int) -> None:
        self.sizes[factor] = min(size, self.sizes.get(factor, size))

    def symbol(self, factor: str) -> str:
        n = list(self.sizes).index(factor)
        return "ijklmnopqrstuvwxyz"[n] if n < 18 else f"z_{n - 17}"

    def dimension(self, d: Any, size: int, what: str) -> tuple[str, ...]:
        """The factors of a dimension, noted."""
        if not isinstance(d, CompoundFactor):
            self.note(d, size)
            return (d,)
        for f in d:
            if f in self.given:
                self.note(f, self.given[f])
        unknown = [f for f in d if f not in self.given]
        rest = prod(self.given[f] for f in d if f in self.given)
        if size % rest or (not unknown and rest != size):
            raise ValueError(
                f"sharding_rule{here()}: {what} has a dimension of size {size}, which is not the "
                f"product of the factors {tuple(d)}."
            )
        for f in unknown:
            self.note(f, size // rest if len(unknown) == 1 else size)
        return tuple(d)


def spelled(
    rule: SdyShardingRule,
    ins: Sequence[tuple[int, ...]],
    outs: Sequence[tuple[int, ...]],
    mapped: Sequence[tuple[Sequence[bool], Sequence[bool]]] = (),
) -> str:
    """A rule in Shardy's text, for operands and results of these shapes.

    Args:
        mapped: for each ``vmap``, the innermost first, which operands and results have its axis, in
            front.

    Raises:
        ValueError: the rule is for other numbers or ranks.
    """
    sizes = _Sizes(rule.factor_sizes)
    sides = ("operand", rule.operand_mappings, ins), ("result", rule.result_mappings, outs)
    result: list[list[list[tuple[str, ...]]]] = []
    for side, (what, mappings, shapes) in enumerate(sides):
        if len(mappings) != len(shapes):
            raise ValueError(
                f"sharding_rule {rule}{here()} has {len(mappings)} {what}s, and the function has "
                f"{len(shapes)}."
            )
        result.append([])
        for i, (mapping, shape) in enumerate(zip(mappings, shapes)):
            levels = [k for k, level in enumerate(mapped) if level[side][i]][::-1]
            dims = _each(mapping, shape, levels, f"{what} {i}", rule)
            result[-1].append([sizes.dimension(d, n, f"{what} {i}") for d, n in zip(dims, shape)])
    texts = [
        ", ".join(f"[{', '.join(''.join(map(sizes.symbol, d)) for d in dims)}]" for dims in arrays)
        for arrays in result
    ]
    listed = ", ".join(f"{sizes.symbol(f)}={n}" for f, n in sizes.sizes.items())
    roles = [
        f" {role}={{{', '.join(map(sizes.symbol, factors))}}}"
        for role, factors in rule.roles.items()
        if factors
    ]
    return f"#sdy.op_sharding_rule<({texts[0]})->({texts[1]}) {{{listed}}}{''.join(roles)}, custom>"


def _each(
    mapping: ArrayMapping, shape: tuple[int, ...], levels: list[int], what: str, rule: Any
) -> list[Any]:
    """The factor of each dimension; those of ``vmap`` and of batching have names of their own."""
    outer = [f"{k}" for k in levels]
    more = len(shape) - len(outer) - len(mapping.own)
    if (more and mapping[:1] != (BATCHING,)) or more < 0:
        raise ValueError(
            f"sharding_rule {rule}{here()}: {what} has {len(mapping.own)} dimensions there, and "
            f"the shape {shape[len(outer) :]}."
        )
    return [*outer, *[f"…{i}" for i in range(more)], *mapping.own]
