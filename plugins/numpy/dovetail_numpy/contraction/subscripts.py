"""Subscripts of einsum: letters per operand, with Ellipsis and the implicit result spelled out."""

from __future__ import annotations

import string

from ..operands import here

Shape = tuple[int, ...]


def parse_subscripts(
    subscripts: str, shapes: tuple[Shape, ...]
) -> tuple[tuple[str, ...], str, dict[str, int]]:
    """Letters of each operand and of the result, and the size of each letter's axis.

    Raises:
        ValueError: subscripts and shapes do not fit; names the subscript and the operand.
    """
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(shapes):
        raise ValueError(
            f"einsum {subscripts!r} has subscripts for {len(terms)} operands, but {len(shapes)} "
            f"are given{here()}"
        )
    unused = iter(c for c in string.ascii_letters + _MORE if c not in text)
    widths = [len(s) - len(t.replace("...", "")) for t, s in zip(terms, shapes) if "..." in t]
    dots = "".join(next(unused) for _ in range(max(widths, default=0)))
    inputs = tuple(
        _spelled(subscripts, i, t, s, dots) for i, (t, s) in enumerate(zip(terms, shapes))
    )
    if arrow:
        output = right.replace("...", dots)
    else:
        letters = "".join(inputs)
        output = dots + "".join(
            sorted(c for c in set(letters) if letters.count(c) == 1 and c not in dots))  # fmt: skip
    sizes = _sizes(subscripts, inputs, shapes)
    for c in output:
        if c not in sizes or output.count(c) > 1:
            what = "does not occur in any operand" if c not in sizes else "occurs twice"
            raise ValueError(f"einsum {subscripts!r}: the result's subscript {c!r} {what}{here()}")
    return inputs, output, sizes


_MORE = "".join(chr(c) for c in range(0x3B1, 0x3CA))


def _spelled(subscripts: str, i: int, term: str, shape: Shape, dots: str) -> str:
    """One operand's letters, Ellipsis replaced by as many letters as it has axes left."""
    named = term.replace("...", "")
    if not all(c.isalnum() for c in named):
        bad = next(c for c in named if not c.isalnum())
        raise ValueError(
            f"einsum {subscripts!r}: {bad!r} in {term!r} is neither a letter nor a digit{here()}"
        )
    left = len(shape) - len(named)
    if left < 0 or (left and "..." not in term):
        raise ValueError(
            f"einsum {subscripts!r}: the subscript {term!r} has {len(named)} letters for operand "
            f"{i}, which has shape {shape}{here()}"
        )
    return term.replace("...", dots[len(dots) - left :])


def _sizes(subscripts: str, inputs: tuple[str, ...], shapes: tuple[Shape, ...]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for i, (term, shape) in enumerate(zip(inputs, shapes)):
        for c, n in zip(term, shape):
            known = sizes.get(c, 1)
            if n not in (1, known) and known != 1:
                raise ValueError(
                    f"einsum {subscripts!r}: the subscript {c!r} has size {n} in operand {i} of "
                    f"shape {shape}, but size {known} in an operand before{here()}. Give the "
                    "axes names of their own, or reshape an operand."
                )
            sizes[c] = max(known, n) if 0 not in (known, n) else 0
    return sizes
