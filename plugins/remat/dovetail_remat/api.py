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
    """A policy that keeps as many values as a number of bytes allows, so that recomputation is
    least.

    ``checkpoint(f, policy=Budget("2GiB"))`` plans the backward pass of ``f``: values between
    forward and backward pass, recomputed values and cotangents together take at most this memory at
    any time (arguments, results and gradients, which exist anyway, do not count). The kept values
    are the result of a minimum cut of the program at the price of memory at which they fit. Other
    values are computed again in pieces, each when the backward pass needs it.

    Args:
        limit: bytes, as a number or as text with a unit (``"500MB"``, ``"1.5 GiB"``).
        margin: the fraction of the limit that is reserved for other buffers of the compiler (copies
            in another layout, fragmentation).

    Raises:
        ValueError: the limit is not a positive number of bytes, or the margin not in [0, 1).
    """

    __slots__ = ()

    def report(self, f: Callable[..., Any], *args: Any, **kwargs: Any) -> BudgetReport:
        """A report on the plan for the backward pass of ``f`` at these arguments.

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
            or a tuple of bools or pytrees of bools, one for each positional argument: then only
            those arguments go through a barrier.
        policy: a function that selects the values that may be kept (see ``checkpoint_policies``),
            or None to keep only the inputs. With a ``Budget`` the function has a method
            ``report(*args, **kwargs)``.
        static_argnums, static_argnames: arguments that are not arrays, by position and by keyword.
        concrete: must be False; it has no meaning for traced values.
        effects: the treatment of writes to references that the function takes or closes over, and
            of other effects (printing). ``"once"``: they happen in the first pass, and the second
            uses copies with the contents that the references had when the function was called.
            ``"replay"``: they happen again at each recomputation, which reads the contents that the
            references have then. ``"forbid"``: a function that writes or has other effects is an
            error. References made inside the function are not concerned.

    Raises:
        TypeError: ``fun`` is not a function, or an argument or result is not an array; names it.
        ValueError: ``effects`` is none of the three; when called: ``static_argnums`` names an
            argument that was not passed, one reference is passed twice, or the function has
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

    cached = _is_cacheable(prevent_cse, policy, effects) and not (numbers or names)

    @wraps(fun)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        out = _call_cached(fun, prevent_cse, args, kwargs) if cached else NotImplemented
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


def _is_cacheable(prevent_cse: Any, policy: Any, effects: Any) -> bool:
    """True if :func:`_call` makes the same call."""
    return prevent_cse.__class__ is bool and policy is None and effects == "once"


def _call_cached(fun: Any, prevent_cse: bool, args: Any, kwargs: Any) -> Any:
    if get_trace() is not EVAL:
        return NotImplemented
    return trace_cache().eager_call("checkpoint", _call, (fun,), (prevent_cse,), args, kwargs)


def _call(functions: Sequence[Any], statics: tuple[Any, ...], args: Any, kwargs: Any) -> Any:
    return checkpoint(functions[0], prevent_cse=statics[0])(*args, **kwargs)


def _report(checkpointed: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The ``BudgetReport`` on the backward pass at these arguments."""
    from .budget.report import report_of

    return report_of(checkpointed, args, kwargs)


remat = alias(checkpoint, "remat")


def checkpoint_name(x: Any, name: str) -> Any:
    """``x``, a pytree of arrays, with a name that checkpoint policies can refer to."""
    return tree_map(lambda leaf: name_p.bind(leaf, name=name), x)
