"""``closure_convert`` and ``custom_gradient``, for rules that close over values."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from dovetail_ad import has_tangent
from dovetail_base.foreign import reword_errors
from dovetail_base.wrapping import wraps
from dovetail_core import (
    ClosedJaxpr,
    Jaxpr,
    Tracer,
    consts_to_inputs,
    eval_jaxpr,
    stage,
    typeof,
)
from dovetail_tree.util import (
    register_pytree_node,
    tree_flatten,
    tree_structure,
    tree_unflatten,
)

from .checks import check_value, differences, name_of
from .decorators import custom_vjp


@reword_errors
def closure_convert(fun: Callable[..., Any], *example_args: Any) -> tuple[Any, list[Any]]:
    """Turn values that ``fun`` closes over and that may be differentiated into arguments.

    Args:
        fun: a pure function of ``example_args``, of which only structure and types are used.

    Returns: ``converted`` and a list of values, so that ``converted(*args, *values)`` equals
    ``fun(*args)``. Values that cannot be differentiated (integers, arrays that are not traced)
    remain constants of ``converted``.

    Raises:
        TypeError: an argument is not an array; when called, the arguments have another structure
            than ``example_args``.
    """
    leaves, in_tree = tree_flatten(example_args)
    out_tree: list[Any] = []
    what = f"closure_convert of {name_of(fun)}"

    def flat(*xs: Any) -> list[Any]:
        result, tree = tree_flatten(fun(*tree_unflatten(in_tree, xs)))
        out_tree[:] = [tree]
        return result

    avals = [check_value(x, f"{what}: an example argument") for x in leaves]
    jaxpr, consts = stage(flat, avals, name_of(fun))
    live = [isinstance(c, Tracer) and has_tangent(c.aval) for c in consts]
    kept = [c for c, m in zip(consts, live) if not m]
    values = [c for c, m in zip(consts, live) if m]

    def converted(*args: Any) -> Any:
        n = len(args) - len(values)
        given, tree = tree_flatten(tuple(args[:n]))
        if tree != in_tree:
            raise TypeError(
                f"{what}: the converted function takes arguments of the structure of the example "
                f"arguments, then the {len(values)} converted values: {differences(in_tree, tree)}"
            )
        k, v = iter(kept), iter(args[n:])
        all_consts = [next(v) if m else next(k) for m in live]
        return tree_unflatten(out_tree[0], eval_jaxpr(jaxpr, all_consts, *given))

    return converted, values


class _Pull:
    """A traced function from cotangents to cotangents, as a pytree of its constants."""

    def __init__(self, jaxpr: Jaxpr, out_tree: Any, consts: list[Any]) -> None:
        self.jaxpr = jaxpr
        self.out_tree = out_tree
        self.consts = consts


register_pytree_node(
    _Pull,
    lambda p: (p.consts, (p.jaxpr, p.out_tree)),
    lambda aux, consts: _Pull(aux[0], aux[1], list(consts)),
)


@reword_errors
def custom_gradient(fun: Callable[..., Any]) -> Any:
    """Decorator: define a function together with its gradient.

    ``fun(*args)`` returns the result and a function from the result's cotangent to a tuple with one
    cotangent per argument (for a single argument, to the cotangent itself). That function may close
    over intermediate values. It is traced.
    """

    @wraps(fun)
    def value(*args: Any) -> Any:
        return _pair(fun, fun(*args))[0]

    def forward(*args: Any) -> tuple[Any, Any]:
        out, rule = _pair(fun, fun(*args))
        cts, tree = tree_flatten(out)
        pull_tree: list[Any] = []

        def flat(*xs: Any) -> list[Any]:
            result = rule(tree_unflatten(tree, xs))
            single = len(args) == 1 and not (isinstance(result, tuple) and len(result) == 1)  # type: ignore[arg-type]
            leaves, pulled = tree_flatten((result,) if single else result)
            pull_tree[:] = [pulled]
            return leaves

        name = f"the gradient of {name_of(fun)}"
        jaxpr, consts = stage(flat, [typeof(x).cotangent_type() for x in cts], name)
        return out, _Pull(jaxpr, pull_tree[0], consts)

    def backward(pull: _Pull, ct: Any) -> Any:
        result = eval_jaxpr(pull.jaxpr, pull.consts, *tree_flatten(ct)[0])
        return tree_unflatten(pull.out_tree, result)

    forward.__name__ = backward.__name__ = name_of(fun)
    made = custom_vjp(value)
    made.defvjp(forward, backward)
    return made


def _pair(fun: Any, result: Any) -> Any:
    if not (isinstance(result, (tuple, list)) and len(result) == 2 and callable(result[1])):  # type: ignore[arg-type]
        raise TypeError(
            f"custom_gradient: {name_of(fun)} must return a pair (result, function from the "
            f"result's cotangent to the arguments'), got {tree_structure(result)}"
        )
    return result


class Converted:
    """A function traced at given types: a program and its constants."""

    def __init__(self, fun: Callable[..., Any], leaves: Any, in_tree: Any, name: str) -> None:
        tree: list[Any] = []

        def flat(*xs: Any) -> list[Any]:
            result, out_tree = tree_flatten(fun(tree_unflatten(in_tree, xs)))
            tree[:] = [out_tree]
            for x in result:
                check_value(x, f"{name} returned a value that is not an array")
            return result

        self.jaxpr, self.consts = stage(flat, [typeof(x) for x in leaves], name)
        self.in_tree = in_tree
        self.out_tree = tree[0]

    @property
    def out_avals(self) -> list[Any]:
        """The types of its results."""
        return self.jaxpr.out_avals

    @cached_property
    def program(self) -> ClosedJaxpr:
        """The program with its constants as first operands."""
        return consts_to_inputs(self.jaxpr)

    def __call__(self, consts: Any, x: Any) -> Any:
        result = eval_jaxpr(self.jaxpr, list(consts), *tree_flatten(x)[0])
        return tree_unflatten(self.out_tree, result)
