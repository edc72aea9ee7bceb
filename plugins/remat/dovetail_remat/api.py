"""``checkpoint`` (also called ``remat``) and ``checkpoint_name``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial, wraps
from typing import Any

from dovetail_core import ClosedJaxpr, consts_to_inputs, stage, typeof
from dovetail_core.tree_util import (
    keystr,
    tree_flatten,
    tree_flatten_with_path,
    tree_map,
    tree_unflatten,
)

from .primitive import name_p, remat_p

_UNSET: Any = object()


def checkpoint(
    fun: Callable[..., Any] = _UNSET,
    *,
    prevent_cse: bool = True,
    policy: Callable[..., bool] | None = None,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Iterable[str] = (),
    concrete: bool = False,
) -> Any:
    """Make ``fun`` compute its intermediate values again when it is differentiated in reverse mode.

    Args:
        fun: a function of pytrees of arrays. Without it, a decorator.
        prevent_cse: keep the compiler from merging the second computation with the first.
        policy: which values may be kept all the same (see ``checkpoint_policies``); None: only the
            inputs.
        static_argnums, static_argnames: arguments that are not arrays, by position and by keyword.
        concrete: must be False; it has no meaning where values are traced.

    Raises:
        TypeError: what is given is not a function, or an argument or result is not an array; names
            it. ValueError (when called): ``static_argnums`` names an argument that was not passed.
    """
    if fun is _UNSET:
        return partial(
            checkpoint, prevent_cse=prevent_cse, policy=policy, static_argnums=static_argnums,
            static_argnames=static_argnames, concrete=concrete,
        )  # fmt: skip
    if concrete:
        raise NotImplementedError(
            "checkpoint(concrete=True) is not supported: mark arguments that Python control flow "
            "depends on with static_argnums"
        )
    if not callable(fun):
        raise TypeError(f"checkpoint takes a function, got {fun!r} of type {type(fun).__name__}")
    if policy is not None and not callable(policy):
        raise TypeError(
            f"checkpoint: policy must be a function (see checkpoint_policies), got {policy!r}"
        )
    numbers = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
    names = {static_argnames} if isinstance(static_argnames, str) else set(static_argnames)

    @wraps(fun)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        static = _positions(numbers, len(args), fun)
        dynamic = [None if i in static else x for i, x in enumerate(args)]
        fixed = {k: v for k, v in kwargs.items() if k in names}
        keywords = {k: v for k, v in kwargs.items() if k not in names}
        leaves, in_tree = tree_flatten((dynamic, keywords))

        def call(a: Sequence[Any], k: Any) -> Any:
            return fun(*[args[i] if i in static else x for i, x in enumerate(a)], **k, **fixed)

        avals = _types(dynamic, keywords, leaves, fun)
        program, consts, out_tree = _trace(call, in_tree, avals, fun)
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
        for x in found:
            _type(x, f"checkpoint: {_name(fun)} returned a value that is not an array ({tree})")
        return found

    jaxpr, consts = stage(flat, avals, _name(fun))
    return consts_to_inputs(jaxpr), consts, out_tree[0]


def _name(fun: Any) -> str:
    return getattr(fun, "__name__", type(fun).__name__)


def _positions(numbers: Sequence[int], count: int, fun: Any) -> set[int]:
    for n in numbers:
        if not -count <= n < count:
            raise ValueError(
                f"checkpoint of {_name(fun)}: static_argnums names argument {n}, but it was called "
                f"with {count} positional argument{'s' if count != 1 else ''}"
            )
    return {n % count for n in numbers}


def _types(args: Any, kwargs: Any, leaves: Sequence[Any], fun: Any) -> list[Any]:
    try:
        return [typeof(x) for x in leaves]
    except TypeError:
        for what, tree in (("args", args), ("kwargs", kwargs)):
            for path, x in tree_flatten_with_path(tree)[0]:
                _type(x, f"checkpoint of {_name(fun)}: {what}{keystr(path)}")
        raise


def _type(x: Any, what: str) -> Any:
    try:
        return typeof(x)
    except TypeError as e:
        raise TypeError(f"{what}: {e}") from None


def checkpoint_name(x: Any, name: str) -> Any:
    """``x``, under a name that checkpoint policies can refer to; ``x`` is a pytree of arrays."""
    return tree_map(lambda leaf: name_p.bind(leaf, name=name), x)
