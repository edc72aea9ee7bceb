"""The signature of a call: its arguments taken apart, and their types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from dovetail_base.keys import exact_key
from dovetail_core import callable_name, typeof
from dovetail_tree.util import keystr, tree_flatten, tree_flatten_with_path, tree_unflatten


class Signature(NamedTuple):
    """The key of a traced program: all that a function is traced for.

    Attributes:
        statics: its static arguments, by position and by name, as keys
            (:func:`dovetail_base.keys.exact_key`); empty where there are none.
        in_tree: the structure of the other arguments, ``(args, kwargs)``.
        avals: their types.
        context: the values of all options that programs depend on.
        axes: the named axes around it.
    """

    statics: tuple[Any, ...]
    in_tree: Any
    avals: tuple[Any, ...]
    context: tuple[Any, ...]
    axes: Any


class Arguments(NamedTuple):
    """A call's arguments taken apart.

    Attributes:
        leaves: those that are not static, flat. in_tree: their structure, ``(args, kwargs)``.
        statics: the static ones, as keys (see :class:`Signature`).
        rebuild: turns flat values into the call ``f(*args, **kwargs)``.
    """

    leaves: Sequence[Any]
    in_tree: Any
    statics: tuple[Any, ...]
    rebuild: Callable[..., Any]

    def path(self, i: int) -> str:
        """The path of a leaf in the call: ``args[0]['a']``, ``kwargs['x']``."""
        numbers = tree_unflatten(self.in_tree, list(range(self.in_tree.num_leaves)))
        path: Any = next(p for p, k in tree_flatten_with_path(numbers)[0] if k == i)
        if path[0].idx:
            return f"kwargs{keystr(path[1:])}"
        fixed = {n for n, _ in self.statics[0]} if self.statics else frozenset[int]()
        count = path[1].idx + len(fixed) + 1
        position = [n for n in range(count) if n not in fixed][path[1].idx]
        return f"args[{position}]{keystr(path[2:])}"


def function_name(f: Any) -> str:
    """A function's name for programs and messages."""
    return callable_name(f)


def split_arguments(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    static_nums: Sequence[int] = (),
    static_names: Iterable[str] = (),
) -> Arguments:
    """Split static from dynamic arguments, and flatten the dynamic ones."""
    if not static_nums and not (static_names and kwargs):
        leaves, in_tree = tree_flatten((args, kwargs))

        def rebuild_all(xs: Sequence[Any]) -> Any:
            a, k = tree_unflatten(in_tree, xs)
            return f(*a, **k)

        return Arguments(leaves, in_tree, (), rebuild_all)
    nums = {n % len(args) for n in static_nums if -len(args) <= n < len(args)}
    dynamic = tuple([x for i, x in enumerate(args) if i not in nums])
    fixed = {k: v for k, v in kwargs.items() if k in static_names}
    leaves, in_tree = tree_flatten((dynamic, {k: v for k, v in kwargs.items() if k not in fixed}))
    statics = (
        tuple((i, exact_key(args[i])) for i in sorted(nums)),
        tuple((k, exact_key(v)) for k, v in sorted(fixed.items())),
    )

    def rebuild(xs: Sequence[Any]) -> Any:
        given, k = tree_unflatten(in_tree, xs)
        rest = iter(given)
        a = [args[i] if i in nums else next(rest) for i in range(len(args))]
        return f(*a, **k, **fixed)

    return Arguments(leaves, in_tree, statics, rebuild)


def types_of(leaves: Sequence[Any], label: Callable[[int], str]) -> list[Any]:
    """The types of values.

    Args:
        label: what errors call a value, by its position.

    Raises:
        TypeError, ValueError: one has no type; says which, by ``label``.
    """
    try:
        return [typeof(x) for x in leaves]
    except (TypeError, ValueError):
        for i, x in enumerate(leaves):
            try:
                typeof(x)
            except (TypeError, ValueError) as e:
                raise type(e)(f"{label(i)}: {e}") from None
        raise
