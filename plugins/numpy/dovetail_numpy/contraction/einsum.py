"""Einstein summation: subscripts parsed once, operands contracted two at a time."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any, NamedTuple

import dovetail_lax as lax
from dovetail_base.arguments import array_of
from dovetail_base.foreign import reword_errors
from dovetail_core import Cache, here, type_shardings
from dovetail_lax import dtypes

from ..creation.arrays import as_array
from ..fusion import fused
from ..operands import Array, no_out
from ..operations import transpose as permute
from ..promotion import convert, promote
from .matmul import contraction

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
            size = sizes.get(c, 1)
            if n not in (1, size) and size != 1:
                raise ValueError(
                    f"einsum {subscripts!r}: the subscript {c!r} has size {n} in operand {i} of "
                    f"shape {shape}, but size {size} in an operand before{here()}. Give the "
                    "axes names of their own, or reshape an operand."
                )
            sizes[c] = max(size, n) if 0 not in (size, n) else 0
    return sizes


class Step(NamedTuple):
    """One contraction: the positions of its operands among the remaining values, and the letters
    of its result."""

    operands: tuple[int, ...]
    result: str


def path_steps(
    inputs: tuple[str, ...], output: str, sizes: dict[str, int], shapes: tuple[Shape, ...],
    optimize: Any,
) -> tuple[Step, ...]:  # fmt: skip
    """The contractions in order; each result is appended to the remaining values."""
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
            removed = sorted(group[:2])
            # The result is last; the others have moved up by those removed before them.
            group = [len(terms) - 1, *(i - sum(g < i for g in removed) for i in rest)]
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

    chosen = "auto" if optimize is True else optimize
    subscripts = f"{','.join(inputs)}->{output}"
    full = [tuple(sizes[c] for c in term) for term in inputs]
    result: Any = opt_einsum.contract_path(subscripts, *full, shapes=True, optimize=chosen)[0]
    return result


class _Plan(NamedTuple):
    """The contractions of one einsum over operands of some shapes, in order."""

    inputs: tuple[str, ...]
    output: str
    steps: tuple[Step, ...]


_plans: Cache[Any, _Plan] = Cache()


def einsum(
    subscripts: Any, /, *operands: Any, out: None = None, optimize: Any = "auto",
    precision: Any = None, preferred_element_type: Any = None, _dot_general: Any = None,
    out_sharding: Any = None,
) -> Array:  # fmt: skip
    """Sums of products by Einstein's convention: ``einsum("ij,jk->ik", a, b)``.

    Args:
        subscripts: letters for each operand's axes, then ``->`` and those of the result; without
            it, the letters that occur once in alphabetical order. ``...`` stands for axes that
            broadcast. Alternatively operands and lists of numbers in turn.
        optimize: the method that chooses the order of contractions (see ``opt_einsum``).

    Raises:
        ValueError: subscripts and operands do not fit together; names the subscript and operand.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(
            out_sharding,
            einsum,
            subscripts,
            *operands,
            out=out,
            optimize=optimize,
            precision=precision,
            preferred_element_type=preferred_element_type,
            _dot_general=_dot_general,
        )
    no_out("einsum", out)
    subscripts, operands = _named_form(subscripts, operands)
    arrays = [as_array("einsum", x, i) for i, x in enumerate(operands)]
    plan = _plan(subscripts, tuple([x.shape for x in arrays]), optimize)
    first = arrays[0].dtype
    if any(x.dtype != first for x in arrays):
        arrays = promote("einsum", *arrays)
    if precision is None and preferred_element_type is None:
        return _run(*arrays, plan=plan, precision=None, preferred=None)
    preferred = None if preferred_element_type is None else dtypes.as_dtype(preferred_element_type)
    return _run(*arrays, plan=plan, precision=precision, preferred=preferred)


def _named_form(subscripts: Any, operands: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    if isinstance(subscripts, str):
        return subscripts, operands
    from opt_einsum import parser

    given = (array_of(subscripts), *map(array_of, operands))
    inputs, output, arrays = parser.parse_einsum_input(given, shapes=False)
    return f"{inputs}->{output}", tuple(arrays)


def _plan(subscripts: str, shapes: tuple[Any, ...], optimize: Any) -> _Plan:
    chosen = tuple(map(_hashable, optimize)) if isinstance(optimize, (list, tuple)) else optimize
    key = (subscripts, shapes, chosen)
    result = _plans.get(key)
    if result is None:
        inputs, output, sizes = parse_subscripts(subscripts, shapes)
        steps = path_steps(inputs, output, sizes, shapes, optimize)
        result = _plans[key] = _Plan(inputs, output, steps)
    return result


def _hashable(step: Any) -> Any:
    return tuple(step) if isinstance(step, (list, tuple)) else step


@fused(static=("plan", "precision", "preferred"))
def _run(*arrays: Any, plan: _Plan, precision: Any, preferred: Any) -> Any:
    terms = list(plan.inputs)
    values = list(arrays)
    for step in plan.steps:
        picked = [(values[i], terms[i]) for i in step.operands]
        for i in sorted(step.operands, reverse=True):
            del values[i], terms[i]
        if len(picked) == 1:
            value, term = _reduce(*picked[0], keep=step.result)
        else:
            value, term = _contract(*picked[0], *picked[1], step.result, precision, preferred)
        values.append(value)
        terms.append(term)
    out = _ordered(values[0], terms[0], plan.output)
    if preferred is not None and out.dtype != preferred:
        out = convert(out, preferred)
    return out


def _ordered(x: Any, term: str, wanted: str) -> Any:
    return permute(x, tuple([term.index(c) for c in wanted]))


def _reduce(x: Any, term: str, keep: str) -> tuple[Any, str]:
    """Take diagonals of repeated letters, and sum over letters that are not kept."""
    for c in dict.fromkeys(term):
        while term.count(c) > 1:
            x, term = _diagonal(x, term, c)
    axes = tuple([i for i, c in enumerate(term) if c not in keep])
    if not axes:
        return x, term
    reduce = lax.reduce_or_p if x.dtype.kind == "b" else lax.reduce_sum_p
    return reduce.bind(x, axes=axes), "".join(c for c in term if c in keep)


def _diagonal(x: Any, term: str, c: str) -> tuple[Any, str]:
    from ..creation.matrices import diagonal

    i = term.index(c)
    j = term.index(c, i + 1)
    rest = term[:i] + term[i + 1 : j] + term[j + 1 :]
    return diagonal(x, 0, i, j), rest + c


def _contract(
    x: Any, a: str, y: Any, b: str, keep: str, precision: Any, preferred: Any
) -> tuple[Any, str]:
    """Contract two operands: letters in both are batch axes if kept, and are summed if not."""
    x, a = _reduce(x, a, keep=keep + b)
    y, b = _reduce(y, b, keep=keep + a)
    x, a, y, b = *_without_ones(x, a, y, b), *_without_ones(y, b, x, a)
    x, a = _reduce(x, a, keep=keep + b)
    y, b = _reduce(y, b, keep=keep + a)
    both = [c for c in a if c in b]
    batch = [c for c in both if c in keep]
    summed = [c for c in both if c not in keep]
    if not summed and not preferred and x.dtype.kind != "b":
        result = _outer(x, a, y, b, keep)
        if result is not None:
            return result
    dims = ((tuple([a.index(c) for c in summed]), tuple([b.index(c) for c in summed])),
            (tuple([a.index(c) for c in batch]), tuple([b.index(c) for c in batch])))  # fmt: skip
    left = [c for c in a if c not in both]
    right = [c for c in b if c not in both]
    return contraction(dims, precision, preferred)(x, y), "".join((*batch, *left, *right))


def _outer(x: Any, a: str, y: Any, b: str, keep: str) -> tuple[Any, str] | None:
    """A product without sums, as a multiplication where no axis has to move."""
    if a == b:
        return lax.mul_p.bind(x, y), a
    if not a or not b:
        return lax.mul_p.bind(x, y), a or b
    return None


def _without_ones(x: Any, a: str, y: Any, b: str) -> tuple[Any, str]:
    """Drop axes of size 1 that broadcast against the other operand's."""
    axes = [i for i, c in enumerate(a) if c in b and x.shape[i] == 1 != y.shape[b.index(c)]]
    if not axes:
        return x, a
    return lax.squeeze(x, axes), "".join(c for i, c in enumerate(a) if i not in axes)


@reword_errors
def einsum_path(subscripts: Any, /, *operands: Any, optimize: Any = "auto") -> Any:
    """The order in which :func:`einsum` would contract, and a description of its cost."""
    import opt_einsum

    arrays = [x if isinstance(x, (str, list)) else as_array("einsum_path", x) for x in operands]
    if isinstance(optimize, bool):
        optimize = "optimal" if optimize else [tuple(range(len(arrays)))]
    return opt_einsum.contract_path(subscripts, *arrays, optimize=optimize)
