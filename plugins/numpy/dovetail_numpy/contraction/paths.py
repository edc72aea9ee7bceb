"""The order of contractions of an einsum: pairs chosen by opt_einsum where there is a choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

Shape = tuple[int, ...]


class Step(NamedTuple):
    """One contraction: which of the values left take part, and the letters that stay."""

    operands: tuple[int, ...]
    result: str


def path_steps(
    inputs: tuple[str, ...], output: str, sizes: dict[str, int], shapes: tuple[Shape, ...],
    optimize: Any,
) -> tuple[Step, ...]:  # fmt: skip
    """The contractions in order; results are appended to the values that are left."""
    n = len(inputs)
    if n == 1:
        return (Step((0,), output),)
    if n == 2:
        return (Step((0, 1), output),)
    path = _path(inputs, output, sizes, shapes, optimize)
    terms = list(inputs)
    steps = []
    for group in path:
        while len(group) > 1:
            steps.append(_pair(terms, tuple(group[:2]), output))
            rest = list(group[2:])
            gone = sorted(group[:2])
            # The result is last; the others have moved up by those that are gone before them.
            group = [len(terms) - 1, *(i - sum(g < i for g in gone) for i in rest)]
    return tuple(steps)


def _pair(terms: list[str], pair: tuple[int, ...], output: str) -> Step:
    others = "".join(t for i, t in enumerate(terms) if i not in pair) + output
    both = "".join(terms[i] for i in pair)
    keep = "".join(c for c in dict.fromkeys(both) if c in others)
    for i in sorted(pair, reverse=True):
        del terms[i]
    terms.append(keep)
    return Step(pair, keep)


def _path(
    inputs: tuple[str, ...], output: str, sizes: dict[str, int], shapes: tuple[Shape, ...],
    optimize: Any,
) -> Sequence[Sequence[int]]:  # fmt: skip
    if optimize is False:
        return [list(range(len(inputs)))]
    if isinstance(optimize, (list, tuple)):
        return [p for p in optimize if not isinstance(p, str)]
    import opt_einsum

    how = "auto" if optimize is True else optimize
    subscripts = f"{','.join(inputs)}->{output}"
    full = [tuple(sizes[c] for c in term) for term in inputs]
    result: Any = opt_einsum.contract_path(subscripts, *full, shapes=True, optimize=how)[0]
    return result
