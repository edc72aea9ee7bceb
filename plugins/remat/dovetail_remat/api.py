"""``checkpoint`` (also called ``remat``) and ``checkpoint_name``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any

from dovetail_core import ClosedJaxpr, consts_to_inputs, stage, typeof
from dovetail_core.tree_util import tree_flatten, tree_map, tree_unflatten

from .primitive import name_p, remat_p

_UNSET: Any = object()


def checkpoint(
    fun: Callable[..., Any] = _UNSET,
    *,
    prevent_cse: bool = True,
    policy: Callable[..., bool] | None = None,
    static_argnums: int | Sequence[int] = (),
    concrete: bool = False,
) -> Any:
    """Make ``fun`` compute its intermediate values again when it is differentiated in reverse mode.

    Args:
        fun: a function of pytrees of arrays. Without it, a decorator.
        prevent_cse: keep the compiler from merging the second computation with the first.
        policy: which values may be kept all the same (see ``checkpoint_policies``); None: only the
            inputs.
        static_argnums: arguments that are not arrays.
        concrete: must be False; it has no meaning where values are traced.
    """
    if fun is _UNSET:
        return partial(
            checkpoint, prevent_cse=prevent_cse, policy=policy, static_argnums=static_argnums
        )
    if concrete:
        raise NotImplementedError(
            "checkpoint(concrete=True) is not supported: mark arguments that Python control flow "
            "depends on with static_argnums"
        )
    if not callable(fun):
        raise TypeError(f"checkpoint takes a function, got {fun!r} of type {type(fun).__name__}")
    numbers = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)

    @wraps(fun)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        static = {n % len(args) for n in numbers if -len(args) <= n < len(args)}
        dynamic = [None if i in static else x for i, x in enumerate(args)]
        leaves, in_tree = tree_flatten((dynamic, kwargs))

        def call(a: Sequence[Any], k: Any) -> Any:
            return fun(*[args[i] if i in static else x for i, x in enumerate(a)], **k)

        program, consts, out_tree = _trace(call, in_tree, [typeof(x) for x in leaves], fun)
        outs = remat_p.bind(
            *consts, *leaves, program=program, policy=policy, prevent_cse=prevent_cse,
            differentiated=False,
        )  # fmt: skip
        return tree_unflatten(out_tree, outs)

    return checkpointed


remat = checkpoint


def _trace(
    call: Callable[..., Any], in_tree: Any, avals: Sequence[Any], fun: Any
) -> tuple[ClosedJaxpr, list[Any], Any]:
    out_tree: list[Any] = []

    def flat(*xs: Any) -> list[Any]:
        found, tree = tree_flatten(call(*tree_unflatten(in_tree, xs)))
        out_tree[:] = [tree]
        return found

    jaxpr, consts = stage(flat, avals, getattr(fun, "__name__", type(fun).__name__))
    return consts_to_inputs(jaxpr), consts, out_tree[0]


def checkpoint_name(x: Any, name: str) -> Any:
    """``x``, under a name that checkpoint policies can refer to; ``x`` is a pytree of arrays."""
    return tree_map(lambda leaf: name_p.bind(leaf, name=name), x)
