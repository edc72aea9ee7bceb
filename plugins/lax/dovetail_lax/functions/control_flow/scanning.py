"""``scan`` and ``map``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

from dovetail_base import arguments
from dovetail_base.options import disable_jit
from dovetail_core import (
    EVAL,
    get_trace,
    here,
    leading_size,
    mutable_values,
    trace_cache,
    typeof,
    without_leading,
)
from dovetail_tree.util import (
    keystr,
    tree_flatten,
    tree_flatten_with_path,
    tree_leaves,
    tree_map,
    tree_unflatten,
)

from ...primitives.control_flow import scan_p
from ._staging import (
    Staged,
    check_function,
    checkpointing,
    close_together,
    invariant,
    name_of,
    operand_types,
    paths,
    refuse_mutable,
    stage_carry,
    with_constants,
)


def scan(
    f: Callable[..., Any],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    _split_transpose: bool = False,
    *,
    checkpoint: Any = None,
) -> tuple[Any, Any]:
    """Apply ``f`` along the leading axis of ``xs``, carrying a value from step to step.

    Args:
        f: ``f(carry, x) -> (carry, y)``; the carry keeps its structure and types.
        init: the first carry.
        xs: a pytree of arrays and references with one common leading length, or None. Of a
            reference each step gets its slice, as a reference, and writes through it.
        length: the number of steps; needed where ``xs`` has no arrays.
        reverse: go from the last slice to the first (``ys`` stays in the order of ``xs``).
        unroll: how many steps to put into one iteration of the compiled loop; True for all.
        checkpoint: which carries to keep for reverse mode, the others being computed again:
            ``Binomial(snapshots=s)``, ``Periodic(every=n)`` or ``Online(snapshots=s)``. None: keep
            what is needed of all steps.

    Returns: ``(last carry, ys)``, the ``y`` of all steps stacked along a new leading axis.

    Raises:
        TypeError: ``f`` returns no pair, or a carry of other structure or types; names the path.
        ValueError: leading axes differ in length, or no length is known.
    """
    check_function(f, "scan: f")
    return scan_of("scan", f, init, xs, length, reverse, unroll, checkpoint)


def scan_of(
    what: str,
    f: Callable[..., Any],
    init: Any,
    xs: Any,
    length: int | None,
    reverse: bool = False,
    unroll: int | bool = 1,
    scheme: Any = None,
) -> tuple[Any, Any]:
    """:func:`scan`, for the function named ``what``."""
    if scheme is None and get_trace() is EVAL:
        result = trace_cache().eager_call(
            what, _scan_again, (f,), (what, length, reverse, unroll), init, xs
        )
        if result is not NotImplemented:
            return result
    provider = None if scheme is None else checkpointing(what, scheme)
    leaves, carry_tree = tree_flatten(init)
    x_leaves, x_tree = tree_flatten(xs)
    x_types = operand_types(x_leaves, x_tree, f"{what}: xs")
    refuse_mutable(what, "sliced into steps", x_types, lambda: paths(x_tree, "xs"), sliced=True)
    n = _length(xs, length)
    if disable_jit.value:
        return _in_python(f, init, x_leaves, x_tree, n, reverse)
    _check_undivided(what, x_types)
    in_tree = tree_flatten((init, xs))[1]
    more = tuple(without_leading(a) for a in x_types)
    leaves, staged = stage_carry(
        what, f, in_tree, carry_tree, leaves, lambda s: _pair(f, s)[0], more
    )
    y_tree = _pair(f, staged)[1]
    fixed = [] if provider is not None else invariant(staged, leaves)
    if fixed:
        staged = with_constants(staged, leaves, fixed, results=True)
    carried = [x for i, x in enumerate(leaves) if i not in fixed]
    (program,), consts = close_together([staged])
    params = {
        "jaxpr": program, "length": n, "reverse": bool(reverse), "unroll": _unroll(unroll, n),
        "num_consts": len(consts), "num_carry": len(carried),
    }  # fmt: skip
    operands = [*consts, *carried, *_scanned_operands(what, consts, x_leaves, x_tree)]
    if provider is None or n == 0:
        outs = scan_p.bind(*operands, **params)
    else:
        outs = provider.scan(what, scheme, operands, params)
    for i in fixed:  # in rising order
        outs.insert(i, leaves[i])
    split = len(leaves)
    return tree_unflatten(carry_tree, outs[:split]), tree_unflatten(y_tree, outs[split:])


def _scanned_operands(
    what: str, consts: Sequence[Any], x_leaves: Sequence[Any], x_tree: Any
) -> Sequence[Any]:
    """``x_leaves``; raises if a reference among them, of which a step has a slice, has an alias."""
    if any(typeof(x).is_mutable for x in x_leaves):
        names = [*["a value that the function closes over"] * len(consts), *paths(x_tree, "xs")]
        mutable_values.check_aliases(what, [*consts, *x_leaves], names)
    return x_leaves


def _scan_again(functions: Sequence[Any], statics: tuple[Any, ...], init: Any, xs: Any) -> Any:
    what, *options = statics
    return scan_of(what, functions[0], init, xs, *options)


def _check_undivided(what: str, types: Sequence[Any]) -> None:
    """Raise ValueError if a leading axis is divided over devices."""
    for a in types:
        if a.divided is not None and a.divided.spec.partitions[0] is not None:
            raise ValueError(
                f"{what}{here()}: xs are gone through along their leading axes, which must be "
                f"whole, and that of {a.str_short()} is divided. Reshard it "
                "(dovetail.sharding.reshard)."
            )


def _pair(f: Any, staged: Staged) -> tuple[Any, Any]:
    tree = staged.out_tree
    children = tree.children()
    node = tree.node_data()
    if node is None or node[0] not in (tuple, list) or len(children) != 2:
        raise TypeError(
            f"scan: {name_of(f)} must return a pair (carry, y), but it returned {tree}{here()}. "
            "Return None for y if there is nothing to stack."
        )
    return children[0], children[1]


def _unroll(unroll: int | bool, length: int) -> int:
    if unroll is True:
        return max(length, 1)
    if unroll is False:
        return 1
    n = arguments.integer("scan: unroll", unroll)
    if n < 0:
        raise ValueError(
            f"scan: unroll must not be negative, got {unroll!r}{here()}. It says how many steps "
            "to put into one iteration of the compiled loop."
        )
    return max(n, 1)


def _length(xs: Any, length: int | None) -> int:
    result: dict[int, str] = {}
    for path, x in tree_flatten_with_path(xs)[0]:
        n = leading_size(typeof(x))
        if n is None:
            raise ValueError(
                f"scan: xs{keystr(path)} is a scalar: it has no axis to scan over{here()}"
            )
        result.setdefault(n, f"xs{keystr(path)}")
    if length is not None:
        if isinstance(length, float) and isfinite(length):  # a quotient
            length = int(length)
        length = arguments.integer("scan: length", length)
        if length < 0:
            raise ValueError(
                f"scan: length must not be negative, got {length}{here()}. It is the number of "
                "steps."
            )
        result.setdefault(length, "length")
    if len(result) > 1:
        parts = ", ".join(f"{where} has {n}" for n, where in result.items())
        raise ValueError(
            f"scan: the leading axes must have one length, but {parts}{here()}. Slice the longer "
            "ones, or correct length."
        )
    if not result:
        raise ValueError(
            f"scan: pass xs with arrays, or length, to say how many steps to take{here()}"
        )
    return next(iter(result))


def _in_python(
    f: Callable[..., Any], init: Any, x_leaves: Any, x_tree: Any, n: int, reverse: bool
) -> tuple[Any, Any]:
    from ..broadcasting import expand_dims
    from ..shape import concatenate

    carry, ys = init, []
    if n == 0:
        raise ValueError(
            "scan of zero steps is not supported with disable_jit: the type of y is unknown"
        )
    for i in reversed(range(n)) if reverse else range(n):
        carry, y = f(carry, tree_unflatten(x_tree, [_step(x, i) for x in x_leaves]))
        ys.append(y)
    if reverse:
        ys.reverse()
    return carry, tree_map(lambda *y: concatenate([expand_dims(v, (0,)) for v in y], 0), *ys)


def _step(x: Any, i: int) -> Any:
    return x.at[i] if typeof(x).is_mutable else x[i]


def map(f: Callable[..., Any], xs: Any, *, batch_size: int | None = None) -> Any:
    """Apply ``f`` to every slice of the leading axis of ``xs``, one after the other.

    Args:
        xs: as of :func:`scan`.
        batch_size: apply ``vmap(f)`` to this many slices at a time; where there are references
            among ``xs``, ``f`` to one after the other.

    Returns: the results, stacked along a new leading axis.
    """
    check_function(f, "map: f")
    if batch_size is None:
        return scan(lambda _, x: (None, f(x)), None, xs)[1]
    n = _length(xs, None)
    size = arguments.integer("map: batch_size", batch_size)
    if size < 0:
        raise ValueError(
            f"map: batch_size must not be negative, got {size}{here()}. It is the number of "
            "slices to apply the function to at a time."
        )
    if any(typeof(x).is_mutable for x in tree_leaves(xs)):
        return map(f, xs)
    size = min(max(size, 1), max(n, 1))
    return _map_in_batches(f, xs, n, size)


def _map_in_batches(f: Callable[..., Any], xs: Any, n: int, size: int) -> Any:
    from dovetail_batching import vmap

    from ..shape import concatenate, reshape
    from ..slicing import slice_in_dim

    groups, rest = divmod(n, size)
    head = tree_map(
        lambda x: reshape(slice_in_dim(x, 0, groups * size), (groups, size, *x.shape[1:])), xs
    )
    ys = scan(lambda _, x: (None, vmap(f)(x)), None, head)[1]
    ys = tree_map(lambda y: reshape(y, (groups * size, *y.shape[2:])), ys)
    if not rest:
        return ys
    tail = vmap(f)(tree_map(lambda x: slice_in_dim(x, groups * size, n), xs))
    return tree_map(lambda a, b: concatenate([a, b], 0), ys, tail)
