"""``jvp``, ``vjp`` and ``linearize``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from dovetail_base.source import run_transformed
from dovetail_core import (
    ClosedJaxpr,
    eval_jaxpr,
    get_trace,
    is_value,
    leaks,
    mutable_values,
    run_under,
    typeof,
)
from dovetail_tree.util import (
    Partial,
    register_pytree_node,
    tree_differences,
    tree_flatten,
    tree_unflatten,
)

from .arguments import (
    check_callable,
    check_tangents,
    check_types,
    flat_function,
    function_name,
    here,
    input_types,
    split_aux,
    unwrap_static,
)
from .forward import JvpTrace, jvp_values
from .linear import LinearTrace, to_program
from .tangents import has_tangent, like_primal, live_tangent
from .transposition import backward_scope, transposed_call


def jvp(
    fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False
) -> tuple[Any, ...]:
    """The value of ``fun`` at ``primals`` and its directional derivative along ``tangents``.

    Args:
        primals: the positional arguments, as a tuple or list; ``tangents``: the same structure,
            shapes and dtypes (``float0`` for integers). The tangent of a reference is a reference
            to the tangent of its contents, or None if only undifferentiated values go through it.
        has_aux: ``fun`` returns a pair whose second part is passed through.

    Returns: ``(value, tangent)``, or ``(value, tangent, aux)``.

    Raises:
        TypeError: primals and tangents do not match in structure or dtype; names the leaf.
        ValueError: they do not match in shape.
    """
    check_callable(fun, "jvp")
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(
            "jvp takes primals and tangents as tuples or lists of arguments, got "
            f"{type(primals).__name__} and {type(tangents).__name__}: write jvp(f, (x,), (t,))"
            + here()
        )
    if isinstance(primals, tuple) is not isinstance(tangents, tuple):
        raise TypeError(
            "jvp takes primals and tangents of the same structure, got a "
            f"{type(primals).__name__} and a {type(tangents).__name__}: write "
            f"jvp(f, (x,), (t,)){here()}"
        )
    primals, tangents = tuple(primals), tuple(tangents)
    leaves, in_tree = tree_flatten(primals)
    if any(map(is_mutable, leaves)):
        given = tangents_of(primals, tangents, "jvp")
    else:
        check_tangents(primals, tangents, "jvp")
        given = tree_flatten(tangents)[0]
    flat, out_tree = flat_function(fun, in_tree, {}, has_aux)
    wanted = [typeof(x).tangent_type() for x in leaves]
    ts = [None if t is None else live_tangent(t, a) for t, a in zip(given, wanted)]
    outs, out_ts = leaks.leak_checked(jvp_values)(_named(flat), leaves, ts)
    shown = [like_primal(t, typeof(p)) for p, t in zip(outs, out_ts)]
    value, tangent = tree_unflatten(out_tree[0], outs), tree_unflatten(out_tree[0], shown)
    if has_aux:
        value, aux = split_aux(fun, value)
        return value, tangent[0], unwrap_static(aux)
    return value, tangent


def _named(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f`` with scopes of its operations that name the transformation."""
    return partial(run_transformed, "jvp", f)


class Linearized:
    """A linear map made of recorded operations, a pytree of its residuals.

    ``apply`` evaluates it forward, ``transpose`` backward. ``live`` has two tuples of flags: the
    outputs that the program computes, and the inputs that it takes.
    """

    def __init__(self, program: ClosedJaxpr, residuals: Sequence[Any], live: tuple[Any, ...]):
        self.program = program
        self.residuals = list(residuals)
        self.live = live

    def apply(self, tangents: Sequence[Any]) -> list[Any]:
        """Output tangents (None for zeros) of input tangents."""
        out_live, in_live = self.live
        given = [t for t, live in zip(tangents, in_live) if live]
        result = iter(eval_jaxpr(self.program.jaxpr, self.program.consts, *self.residuals, *given))
        return [next(result) if live else None for live in out_live]

    def transpose(
        self, cotangents: Sequence[Any], accumulators: Sequence[Any] | None = None
    ) -> list[Any]:
        """Input cotangents (None for zeros) of output cotangents; see ``backward_pass``.

        There may be fewer cotangents than outputs: those of auxiliary outputs are left out.
        """
        out_live, in_live = self.live
        avals = self.program.in_avals[len(self.residuals) :]
        f = partial(eval_jaxpr, self.program.jaxpr, self.program.consts, *self.residuals)
        cts = [ct for ct, live in zip(cotangents, out_live) if live]
        if accumulators is not None:
            accumulators = [a for a, live in zip(accumulators, in_live) if live]
        result = iter(transposed_call(f, avals, cts, accumulators, scope=backward_scope()))
        return [next(result) if live else None for live in in_live]


register_pytree_node(
    Linearized,
    lambda m: (m.residuals, (m.program, m.live)),
    lambda aux, residuals: Linearized(aux[0], residuals, aux[1]),
)


def linearize_flat(
    f: Callable[..., Sequence[Any]], primals: Sequence[Any]
) -> tuple[list[Any], Linearized]:
    """Values of ``f`` (flat) and its linearization at ``primals``, in one pass."""
    trace = LinearTrace(get_trace())
    jvp_trace = JvpTrace(trace)
    unknown: list[Any] = []
    for x in primals:
        aval = typeof(x)
        unknown.append(trace.unknown(aval.tangent_type()) if has_tangent(aval) else None)
    try:
        outs = run_under(jvp_trace, f, *map(jvp_trace.dual, primals, unknown))
        duals = [jvp_trace.lower(x) for x in outs]
    except BaseException:
        trace.take()
        raise
    finally:
        jvp_trace.ended = trace.ended = True
    tangents = [t if trace.owns(t) else None for _, t in duals]
    inputs = [t for t in unknown if t is not None]
    program, residuals = to_program(trace, inputs, [t for t in tangents if t is not None])
    live_map = (tuple(t is not None for t in tangents), tuple(t is not None for t in unknown))
    return [p for p, _ in duals], Linearized(program, residuals, live_map)


def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The value of ``fun`` and the linear map that is its derivative at ``primals``.

    Returns: ``(value, f_jvp)`` (``(value, f_jvp, aux)`` with ``has_aux``). ``f_jvp`` takes tangents
    like ``primals`` and returns the output's tangent, without computing ``fun`` again; it is
    a pytree of the residuals.
    """
    check_callable(fun, "linearize")
    leaves, in_tree = tree_flatten(primals)
    in_avals = input_types(primals, leaves, f"linearize of {function_name(fun)}")
    flat, out_tree = flat_function(fun, in_tree, {}, has_aux)
    outs, linear = leaks.leak_checked(linearize_flat)(_named(flat), leaves)
    value = tree_unflatten(out_tree[0], outs)
    avals = tuple(typeof(x) for x in outs)
    f_jvp = Partial(partial(_apply, in_tree, out_tree[0], in_avals, avals, has_aux), linear)
    if has_aux:
        value, aux = split_aux(fun, value)
        return value, f_jvp, unwrap_static(aux)
    return value, f_jvp


def _apply(
    in_tree: Any,
    out_tree: Any,
    in_avals: Any,
    avals: Any,
    has_aux: bool,
    linear: Linearized,
    *tangents: Any,
) -> Any:
    mutable = any(a.is_mutable for a in in_avals)
    given, tree = flat_with_none(tangents) if mutable else tree_flatten(tangents)
    primal_like = tree_unflatten(in_tree, list(range(in_tree.num_leaves)))
    if tree != in_tree:
        raise TypeError(
            "the linearized function takes tangents of the structure of its primals: "
            f"{'; '.join(tree_differences(primal_like, tangents))}{here()}"
        )
    if mutable:
        given = [_no_tangent(i, t, a) for i, (t, a) in enumerate(zip(given, in_avals))]
    wanted = [a.tangent_type() for a in in_avals]
    plain = plain_leaves(given, wanted) if mutable else list(zip(given, wanted))
    values, types = [t for t, _ in plain], [a for _, a in plain]
    check_types("the linearized function: the tangent", values, types, ValueError)
    result = linear.apply([t if t is None else live_tangent(t, a) for t, a in zip(given, wanted)])
    out = tree_unflatten(out_tree, [like_primal(t, a) for t, a in zip(result, avals)])
    return out[0] if has_aux else out


def _no_tangent(i: int, tangent: Any, aval: Any) -> Any:
    if aval.is_mutable and tangent is not None:
        raise TypeError(
            f"the linearized function: tangent number {i} belongs to {aval.str_short()}, through "
            "which no derivative goes: pass None"
        )
    return tangent


def is_mutable(x: Any) -> bool:
    """True if ``x`` is a mutable value."""
    return is_value(x) and typeof(x).is_mutable


def flat_with_none(tree: Any) -> tuple[list[Any], Any]:
    """Leaves and structure of a tree in which None, for no tangent, is a leaf."""
    return tree_flatten(tree, is_leaf=lambda x: x is None)


def tangents_of(primals: Any, tangents: Any, what: str) -> list[Any]:
    """Checked tangents of primals some of which are mutable.

    The tangent of a mutable value is a mutable value that holds the tangents of its contents, or
    None if only undifferentiated values go through it.

    Raises:
        TypeError: structures or types do not match. ValueError: a mutable value is given twice.
    """
    leaves, tree = tree_flatten(primals)
    given, given_tree = flat_with_none(tangents)
    if tree != given_tree:
        raise TypeError(
            f"{what}: primals have the structure {tree}, tangents {given_tree}. Give one tangent "
            "per primal, and None or a mutable value for a mutable one."
        )
    for i, (x, t) in enumerate(zip(leaves, given)):
        if not is_mutable(x):
            check_tangents((x,), (t,), what)
        elif t is not None and typeof(t) != typeof(x).tangent_type():
            raise TypeError(
                f"{what}: the tangent of leaf {i}, {typeof(x).str_short()}, is of type "
                f"{typeof(t).str_short()}, not {typeof(x).tangent_type().str_short()}. Pass that, "
                "or None where only undifferentiated values go through it."
            )
    all_given = [*leaves, *given]
    n = len(leaves)
    names = [f"leaf {i} of the {'primals' if i < n else 'tangents'}" for i in range(n)]
    names += [f"leaf {i} of the tangents" for i in range(n)]
    mutable = [i for i, x in enumerate(all_given) if x is not None and is_mutable(x)]
    mutable_values.check_aliases(what, [all_given[i] for i in mutable], [names[i] for i in mutable])
    return given


def plain_leaves(values: Sequence[Any], avals: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Pairs of a value and its type, for types that are not mutable."""
    return [(x, a) for x, a in zip(values, avals) if not a.is_mutable]
