"""``trace``, ``lower``, ``eval_shape`` and ``clear_cache`` of public functions that ``jit`` did not
make, such as ``numpy.sin``: each is a program of its own when it is evaluated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from .stages import Lowered, Traced

F = TypeVar("F", bound=Callable[..., Any])


def with_stages(f: F) -> F:
    """The same function, with the stages as attributes: provider ``stages``."""
    made: Any = f
    if isinstance(made, type) or not hasattr(made, "__dict__"):
        return f
    made.trace = partial(_trace, f)
    made.lower = partial(_lower, f)
    made.eval_shape = partial(_eval_shape, f)
    made.clear_cache = partial(_clear_cache, f)
    return f


def _trace(f: Any, /, *args: Any, **kwargs: Any) -> Traced:
    from .api import jit  # what only gives the attributes needs no more than this module

    nums, names = _static(f, args, kwargs)
    return jit(f, static_argnums=nums, static_argnames=names).trace(*args, **kwargs)


def _lower(f: Any, /, *args: Any, **kwargs: Any) -> Lowered:
    return _trace(f, *args, **kwargs).lower()


def _eval_shape(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    return _trace(f, *args, **kwargs).out_info


def _clear_cache(f: Any) -> None:
    """Forget the compiled calls of a function that is one itself. Others have none of their own:
    ``clear_caches`` forgets those of what they call."""
    from dovetail_xla.execution import PjitFunction, clear_cache

    if isinstance(f, PjitFunction):
        clear_cache(f)


def _static(f: Any, args: Any, kwargs: Any) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The arguments that are no operands: their parameter is annotated as no array, as ``axis`` is,
    or the value is none, as of ``method``."""
    from inspect import signature

    named = signature(f).parameters
    nums = [i for i, (x, p) in enumerate(zip(args, _positional(named))) if not _is_operand(x, p)]
    names = [n for n, x in kwargs.items() if not _is_operand(x, named.get(n))]
    return tuple(nums), tuple(names)


def _positional(named: Any) -> Iterator[Any]:
    """The parameter of each positional argument; the last of them may take any number."""
    given = [p for p in named.values() if p.kind not in (p.KEYWORD_ONLY, p.VAR_KEYWORD)]
    last = given[-1] if given and given[-1].kind is given[-1].VAR_POSITIONAL else None
    return chain(given, repeat(last))


def _is_operand(x: Any, parameter: Any) -> bool:
    from dovetail_tree.util import tree_leaves

    leaves = tree_leaves(x)
    if all(hasattr(leaf, "dtype") and hasattr(leaf, "shape") for leaf in leaves):
        return True
    kind = "Any" if parameter is None else str(parameter.annotation)
    return ("Array" in kind or "Any" in kind) and all(_is_number(leaf) for leaf in leaves)


def _is_number(x: Any) -> bool:
    return isinstance(x, (int, float, complex)) or hasattr(x, "dtype")
