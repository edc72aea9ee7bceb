"""What stands for the body of a function whose author says its type: an operation with no rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from dovetail_core import AbstractValue, MissingRule, Primitive, ShapedArray, here, typeof
from dovetail_tree.util import tree_flatten, tree_unflatten

_TABLES = {
    "ad.jvp": "def_jvp or def_vjp",
    "ad.transpose": "def_transpose",
    "backends.reference": "def_rule('backends.reference', ...)",
    "backends.stablehlo": "def_lower",
    "batching.batch": "def_vmap",
}


def untraced(
    name: str,
    type_rule: Callable[..., Any],
    fill: Callable[[Sequence[Any]], Any],
    xs: Sequence[Any],
) -> Any:
    """The result of a function on leaves ``xs`` of its arguments, known by its type.

    Args:
        name: of the function.
        type_rule: from arguments with types in place of arrays to the result with such.
        fill: puts leaves into the arguments.

    Raises:
        TypeError: the rule returned a leaf that is no type; names the function.
    """
    leaves, tree = tree_flatten(type_rule(*fill([typeof(x) for x in xs])))
    types = tuple([_type(name, x) for x in leaves])
    return tree_unflatten(tree, _primitive(name).bind(*xs, types=types))


def _type(name: str, x: Any) -> AbstractValue:
    if isinstance(x, AbstractValue):
        return x
    try:
        return ShapedArray(tuple(x.shape), x.dtype)
    except (AttributeError, TypeError):
        raise TypeError(
            f"the type rule of {name} returned {x!r}{here()}, which is no type of an array: return "
            "something with shape and dtype for each."
        ) from None


def _primitive(name: str) -> Primitive:
    primitive = Primitive(f"{name}_untraced", multiple_results=True, anonymous=True)
    primitive.def_abstract_eval(lambda *avals, types: list(types))
    primitive.rules = {table: _refusing(name, table, how) for table, how in _TABLES.items()}
    return primitive


def _refusing(name: str, table: str, how: str) -> Callable[..., NoReturn]:
    def rule(*args: Any, **params: Any) -> NoReturn:
        raise MissingRule(
            f"{name} has no rule for {table!r}, which is asked for{here()}, and none follows from "
            f"its body, which is not traced since its type is said (def_abstract_eval). Give it "
            f"one: {name}.{how}."
        )

    return rule
