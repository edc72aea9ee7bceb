"""``checkpoint`` (also called ``remat``), ``Budget`` and ``checkpoint_name``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from dovetail_base import arguments
from dovetail_base.wrapping import alias, wraps
from dovetail_core import EVAL, get_trace, here, trace_cache
from dovetail_tree.util import tree_flatten, tree_map, tree_unflatten

from .budget.limit import Limit
from .effects import Effects, bind_with_effects
from .primitive import name_p
from .tracing import barrier_flags, positions, trace, types

if TYPE_CHECKING:
    from .budget.report import BudgetReport

_UNSET: Any = object()


class Budget(Limit):
    """Keep what fits into a number of bytes, so that least is computed again.

    ``checkpoint(f, policy=Budget("2GiB"))`` plans the backward pass of ``f``: values between
    forward and backward pass, values that are computed again, and cotangents together are to take
    no more memory than this at any time (arguments, results and gradients do not count; they are
    there in any case). Which values are kept is the result of a minimum cut of the program at the
    price of memory at which they fit. What is not kept is computed again piece by piece, when the
    backward pass comes to it.

    Args:
        limit: bytes, as a number or as text with a unit (``"500MB"``, ``"1.5 GiB"``).
        margin: the part of the limit that is left to the compiler, for what it holds beside (copies
            in another layout, buffers that do not fit into each other).

    Raises:
        ValueError: the limit is not a positive number of bytes, or the margin not in [0, 1).
    """

    __slots__ = ()

    def report(self, f: Callable[..., Any], *args: Any, **kwargs: Any) -> BudgetReport:
        """What this budget means for the backward pass of ``f`` at these arguments.

        Nothing is computed; arguments may be ``ShapeDtypeStruct``.
        """
        return _report(checkpoint(f, policy=self), *args, **kwargs)


def checkpoint(
    fun: Callable[..., Any] = _UNSET,
    *,
    prevent_cse: Any = True,
    policy: Callable[..., Any] | Budget | None = None,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Iterable[str] = (),
    concrete: bool = False,
    effects: Effects = "once",
) -> Any:
    """Make ``fun`` compute its intermediate values again when it is differentiated in reverse mode.

    Args:
        fun: a function of pytrees of arrays. Without it, a decorator.
        prevent_cse: keep the compiler from merging the second computation with the first. A bool,
            or a tuple of bools or pytrees of bools, one for each positional argument: only those
            arguments then stand behind a barrier.
        policy: which values may be kept all the same (see ``checkpoint_policies``); None: only the
            inputs. With a ``Budget`` the function has a method ``report(*args, **kwargs)``.
        static_argnums, static_argnames: arguments that are not arrays, by position and by keyword.
        concrete: must be False; it has no meaning where values are traced.
        effects: what becomes of writes to references that the function is given or closes over,
            and of other effects (printing). ``"once"``: they happen in the first pass, and the
            second computes with references of its own, which hold what the originals held when
            the function was called. ``"replay"``: they happen again whenever values are computed
            again, which then reads what the references hold at that time. ``"forbid"``: a function
            that writes or has other effects is an error. What happens to references that are made
            inside of the function is no effect.

    Raises:
        TypeError: what is given is not a function, or an argument or result is not an array; names
            it. ValueError: ``effects`` is none of the three; when called: ``static_argnums`` names
            an argument that was not passed, one reference is passed twice, or the function has
            effects that are forbidden.
    """
    if fun is _UNSET:
        return partial(
            checkpoint, prevent_cse=prevent_cse, policy=policy, static_argnums=static_argnums,
            static_argnames=static_argnames, concrete=concrete, effects=effects,
        )  # fmt: skip
    _check(fun, policy, concrete, effects)
    numbers = arguments.integers("static_argnums", static_argnums)
    names = set(arguments.strings("static_argnames", static_argnames))

    known = _is_known(prevent_cse, policy, effects) and not (numbers or names)

    @wraps(fun)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        out = _repeated(fun, prevent_cse, args, kwargs) if known else NotImplemented
        if out is not NotImplemented:
            return out
        static = positions(numbers, len(args), fun)
        dynamic = [None if i in static else x for i, x in enumerate(args)]
        fixed = {k: v for k, v in kwargs.items() if k in names}
        keywords = {k: v for k, v in kwargs.items() if k not in names}
        leaves, in_tree = tree_flatten((dynamic, keywords))

        def call(a: Sequence[Any], k: Any) -> Any:
            return fun(*[args[i] if i in static else x for i, x in enumerate(a)], **k, **fixed)

        avals = types(dynamic, keywords, leaves, fun)
        given = [(i, args[i]) for i in sorted(static)], sorted(fixed.items())
        program, consts, out_tree = trace(call, in_tree, avals, fun, given)
        params = {
            "policy": policy,
            "prevent_cse": barrier_flags(prevent_cse, len(consts), dynamic, keywords, fun),
            "differentiated": False,
        }
        if effects != "once":
            params["effects"] = effects
        outs = bind_with_effects(program, [*consts, *leaves], params)
        return tree_unflatten(out_tree, outs)

    if isinstance(policy, Budget):
        checkpointed.report = partial(_report, checkpointed)  # type: ignore[attr-defined]
    return checkpointed


def _check(fun: Any, policy: Any, concrete: Any, effects: Any) -> None:
    if concrete:
        raise NotImplementedError(
            "checkpoint(concrete=True) is not supported: mark arguments that Python control flow "
            f"depends on with static_argnums{here()}"
        )
    if not callable(fun):
        raise TypeError(
            f"checkpoint takes a function, got {fun!r} of type {type(fun).__name__}{here()}"
        )
    if policy is not None and not callable(policy) and not isinstance(policy, Budget):
        raise TypeError(
            f"checkpoint: policy must be a function (see checkpoint_policies) or a Budget, got "
            f"{policy!r}{here()}"
        )
    if effects not in ("once", "replay", "forbid"):
        raise ValueError(
            f"checkpoint: effects must be 'once', 'replay' or 'forbid', got {effects!r}{here()}"
        )


def _is_known(prevent_cse: Any, policy: Any, effects: Any) -> bool:
    """Whether :func:`_again` makes the same call."""
    return prevent_cse.__class__ is bool and policy is None and effects == "once"


def _repeated(fun: Any, prevent_cse: bool, args: Any, kwargs: Any) -> Any:
    if get_trace() is not EVAL:
        return NotImplemented
    return trace_cache().eager_call("checkpoint", _again, (fun,), (prevent_cse,), args, kwargs)


def _again(functions: Sequence[Any], statics: tuple[Any, ...], args: Any, kwargs: Any) -> Any:
    return checkpoint(functions[0], prevent_cse=statics[0])(*args, **kwargs)


def _report(checkpointed: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What the budget means for the backward pass at these arguments: a ``BudgetReport``."""
    from .budget.report import report_of

    return report_of(checkpointed, args, kwargs)


remat = alias(checkpoint, "remat")


def checkpoint_name(x: Any, name: str) -> Any:
    """``x``, under a name that checkpoint policies can refer to; ``x`` is a pytree of arrays."""
    return tree_map(lambda leaf: name_p.bind(leaf, name=name), x)
