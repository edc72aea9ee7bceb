"""Reverse-mode functions: ``vjp`` and its pullback, ``fwd_and_bwd``, ``linear_transpose``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np

from dovetail_core import (
    ShapedArray,
    axis_names,
    canonical_dtype,
    float0,
    is_value,
    leaks,
    typeof,
    zeros_like_aval,
)
from dovetail_jit import jit
from dovetail_tree.util import (
    Partial,
    register_pytree_node,
    tree_flatten,
    tree_structure,
    tree_unflatten,
)

from .arguments import (
    canonical_argnums,
    check_callable,
    check_types,
    flat_function,
    function_name,
    here,
    input_types,
    refuse_reduction,
    split_aux,
    unwrap_static,
)
from .cotangent_markers import DidntWant, DontWant, GradRef
from .functions import _named, linearize_flat
from .tangents import (
    has_tangent,
    is_float0,
    like_primal,
    live_tangent,
    transposed_type,
    varying_on_unchecked_axes,
)
from .transposition import backward_scope, transposed_call


class Pull(NamedTuple):
    """The types and structures between which a function of ``vjp`` pulls cotangents back."""

    name: str
    in_tree: Any
    out_tree: Any
    in_avals: tuple[Any, ...]
    out_avals: tuple[Any, ...]

    def __call__(self, linear: Any, cotangent: Any, *, into: Sequence[Any] | None = None) -> Any:
        """Cotangents of the arguments; ``into`` has one target per leaf (see ``VJP.with_refs``)."""
        given, tree = tree_flatten(cotangent)
        if tree != self.out_tree:
            raise ValueError(
                f"the vjp function of {self.name} takes a cotangent of the structure of its output "
                f"{self.out_tree}, got {tree}{here()}"
            )
        wanted = [a.cotangent_type() for a in self.out_avals]
        given = [_float0_of_integers(t, a) for t, a in zip(given, self.out_avals)]
        check_types(f"vjp of {self.name}: the cotangent", given, wanted, ValueError)
        cts = [live_tangent(t, a) for t, a in zip(given, wanted)]
        accumulators = None if into is None else [_accumulator(x) for x in into]
        result = linear.transpose(cts, accumulators)
        shown = [like_primal(t, a, True) for t, a in zip(result, self.in_avals)]
        if into is not None:
            shown = [_returned(x, t) for x, t in zip(into, shown)]
        return tree_unflatten(self.in_tree, shown)


def _float0_of_integers(t: Any, aval: Any) -> Any:
    """The cotangent ``t``, as float0 for results of integers, where only its shape is checked."""
    if is_float0(t) or getattr(aval.cotangent_type(), "dtype", None) != float0:
        return t
    return np.zeros(aval.shape, float0) if np.shape(t) == aval.shape else t


class VJP(Partial):
    """The function that pulls cotangents back, as ``vjp`` returns it: a pytree of its residuals."""

    def with_refs(self, *targets: Any) -> Callable[[Any], Any]:
        """The function with cotangents added to references instead of returned.

        Args:
            targets: the structure of the arguments. Each leaf is a reference of the cotangent's
                type, to which the cotangent is added; ``ad.DontWant()`` or None: the cotangent is
                not computed; or any other value, such as ``ad.GradValue()``: it is returned.

        Returns: a function from a cotangent of the value to the tuple of cotangents, with
            ``ad.GradRef()``, ``ad.DidntWant()`` or None for those that are not returned.

        Raises:
            TypeError: the structure is not that of the arguments, or a reference has another type.
        """
        pull: Any = self.func
        name, in_tree, in_avals = pull.name, pull.in_tree, pull.in_avals
        leaves, tree = tree_flatten(tuple(targets), is_leaf=_is_target)
        if tree != in_tree:
            raise TypeError(
                f"with_refs of the vjp of {name}: {tree} is not the structure of the arguments, "
                f"{in_tree}. Give a reference, None (not wanted) or a value for each of them."
            )
        for i, (x, aval) in enumerate(zip(leaves, in_avals)):
            _check_target(name, i, x, aval)
        return partial(pull, *self.args, into=leaves)


register_pytree_node(
    VJP,
    lambda f: ((f.args, f.keywords), f.func),
    lambda func, children: cast("VJP", VJP(func, *children[0], **children[1])),
)


def _is_target(x: Any) -> bool:
    return x is None or hasattr(x, "accum")


class _Discard:
    """An accumulator that ignores its cotangents."""

    def accum(self, cotangent: Any) -> None:
        """Ignore a cotangent."""


_DISCARD = _Discard()


def _returned(target: Any, cotangent: Any) -> Any:
    """The result for an argument whose cotangent goes to ``target``."""
    if hasattr(target, "accum"):
        return GradRef()
    if isinstance(target, DontWant):
        return DidntWant()
    return None if target is None else cotangent


def _accumulator(target: Any) -> Any:
    """The accumulator of an argument's cotangent, None if the cotangent is returned."""
    if target is None or isinstance(target, DontWant):
        return _DISCARD
    return target if hasattr(target, "accum") else None


def _check_target(name: str, i: int, target: Any, aval: Any) -> None:
    if target is None or not hasattr(target, "accum"):
        return
    want: Any = aval.cotangent_type()
    if target.shape != want.shape or target.dtype != want.dtype:
        raise TypeError(
            f"with_refs of the vjp of {name}: leaf {i}, {target!r}, takes no cotangents of type "
            f"{want.str_short()}. Make it with dovetail.new_ref of zeros of that type."
        )


def fwd_and_bwd(
    fun: Callable[..., Any],
    argnums: int | Sequence[int],
    has_aux: bool = False,
    jitted: bool = True,
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The forward and the backward pass of ``fun`` as two functions, each compiled once.

    Args:
        argnums: the arguments to differentiate with respect to.
        has_aux: if True, ``fun`` returns a pair whose second part is not differentiated.
        jitted: if True, both are compiled. (The residuals of a forward pass that is not compiled
            have a new structure at each call, for which a compiled ``bwd`` is compiled again.)

    Returns:
        ``fwd`` and ``bwd``. ``fwd(*args)`` returns ``(value, residuals)``, or ``(value, residuals,
        aux)``; ``bwd(residuals, cotangent)`` returns one cotangent for each of ``argnums``, a
        single one where that is a number.

    Raises:
        TypeError: ``fun`` is not callable. ValueError (of ``fwd``): an argument does not exist.
    """
    check_callable(fun, "fwd_and_bwd")

    def forward(*args: Any) -> tuple[Any, ...]:
        nums = canonical_argnums(argnums, len(args), "fwd_and_bwd")

        def of_chosen(*chosen: Any) -> Any:
            full = list(args)
            for n, x in zip(nums, chosen):
                full[n] = x
            return fun(*full)

        return vjp(of_chosen, *[args[n] for n in nums], has_aux=has_aux)

    def backward(residuals: Any, cotangent: Any) -> Any:
        result = residuals(cotangent)
        return result[0] if isinstance(argnums, int) else result

    return (jit(forward), jit(backward)) if jitted else (forward, backward)


def linear_transpose(
    fun: Callable[..., Any], *primals: Any, reduce_axes: Sequence[Any] = ()
) -> Any:
    """The transpose of a linear function.

    Args:
        fun: a function of floating-point or complex numbers to such, or of integers to integers.
        primals: example arguments; only their structure, shapes and dtypes are used.

    Returns: a function from a cotangent of ``fun``'s output to a tuple of cotangents.

    Raises:
        TypeError: numbers of another kind; or (when called) the cotangent is of another type.
        MissingRule: (when called) ``fun`` is not linear.
    """
    check_callable(fun, "linear_transpose")
    refuse_reduction(reduce_axes)
    leaves, in_tree = tree_flatten(primals)
    avals = [_shape_type(x) for x in leaves]
    _check_kinds(avals, avals)

    def transposed(cotangent: Any) -> Any:
        given, tree = tree_flatten(cotangent)
        cts: list[Any] = []

        def of_unknowns(*unknown: Any) -> list[Any]:
            outs, out_tree = tree_flatten(fun(*tree_unflatten(in_tree, unknown)))
            if tree != out_tree:
                raise TypeError(
                    f"the transpose of {function_name(fun)} takes a cotangent of the structure of "
                    f"its output {out_tree}, got {tree}{here()}"
                )
            out_avals = [typeof(x) for x in outs]
            _check_kinds(avals, out_avals)
            wanted = [transposed_type(a) for a in out_avals]
            check_types("linear_transpose: the cotangent", given, wanted)
            cts.extend(live_tangent(t, a) for t, a in zip(given, wanted))
            return outs

        result = transposed_call(of_unknowns, avals, cts, scope=backward_scope())
        full = [
            zeros_like_aval(transposed_type(a)) if t is None else t for t, a in zip(result, avals)
        ]
        return tree_unflatten(in_tree, [like_primal(t, a, True) for t, a in zip(full, avals)])

    return Partial(transposed)


def _shape_type(x: Any) -> Any:
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        divided = typeof(x).divided if is_value(x) else None
        unchecked = [a for a, checked in axis_names.manual_axes().items() if not checked]
        dtype = canonical_dtype(x.dtype)
        return ShapedArray(x.shape, dtype, sharding=divided, vma=frozenset(unchecked))
    return typeof(x)


def _check_kinds(inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
    """Raise TypeError unless all are differentiable, or all are integers."""
    every = (*inputs, *outputs)
    if all(has_tangent(a) for a in every) or all(_is_integer(a) for a in every):
        return
    types = [", ".join(a.str_short() for a in avals) for avals in (inputs, outputs)]
    raise TypeError(
        "linear_transpose takes functions of floating-point or complex numbers to such, or of "
        f"integers to integers, got arguments of types {types[0]}"
        f"{'' if outputs is inputs else f' and results of types {types[1]}'}{here()}"
    )


def _is_integer(aval: Any) -> bool:
    return getattr(getattr(aval, "dtype", None), "kind", None) in ("i", "u")


def vjp(
    fun: Callable[..., Any], *primals: Any, has_aux: bool = False, reduce_axes: Sequence[Any] = ()
) -> tuple[Any, ...]:
    """The value of ``fun`` and the function that pulls cotangents back to its arguments.

    Returns: ``(value, f_vjp)`` (``(value, f_vjp, aux)`` with ``has_aux``). ``f_vjp`` takes a
    cotangent of the structure, shapes and dtypes of the value and returns a tuple with one
    cotangent per argument; it is a pytree of the residuals. ``f_vjp.with_refs(...)`` adds
    cotangents to references (see :class:`VJP`). The cotangent of an argument that is a reference is
    None: only undifferentiated values go through it.
    """
    check_callable(fun, "vjp")
    refuse_reduction(reduce_axes)
    leaves, in_tree = tree_flatten(primals)
    in_avals = input_types(primals, leaves, f"vjp of {function_name(fun)}")
    flat, out_tree = flat_function(fun, in_tree, {}, has_aux)
    if axis_names.manual_axes():
        leaves = [varying_on_unchecked_axes(x) for x in leaves]
    outs, linear = leaks.leak_checked(linearize_flat)(_named(flat), leaves)
    value = tree_unflatten(out_tree[0], outs)
    avals = [typeof(x) for x in outs]
    tree, aux = out_tree[0], None
    if has_aux:
        value, aux = split_aux(fun, value)
        aux = unwrap_static(aux)
        n = tree_structure(value).num_leaves
        tree, avals = tree_structure(value), avals[:n]
    f_vjp = VJP(Pull(function_name(fun), in_tree, tree, in_avals, tuple(avals)), linear)
    return (value, f_vjp, aux) if has_aux else (value, f_vjp)
