"""``make_jaxpr``, ``eval_shape``, and switching compilation and caches off."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from typing import Any, cast

from dovetail_base.caches import forget_all
from dovetail_base.foreign import reword_errors
from dovetail_base.options import disable_jit as disable_jit
from dovetail_base.source import not_callable
from dovetail_base.wrapping import update_wrapper
from dovetail_core import bound_axis
from dovetail_tree.util import tree_flatten, tree_unflatten

from .call.program import trace_function
from .call.signature import function_name, split_arguments, types_of
from .settings import Settings
from .structs import described, shape_struct


@reword_errors
def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: int | Iterable[int] = (),
    axis_env: Sequence[tuple[Any, int]] | None = None,
    return_shape: bool = False,
) -> Callable[..., Any]:
    """A function that returns the program of ``fun`` for given arguments, without running it.

    It is traced once for arguments of the same types, as ``jit`` traces it.

    Args:
        static_argnums: arguments that are compile-time constants.
        axis_env: names and sizes of axes that collectives in ``fun`` may refer to.
        return_shape: return ``(program, shapes)``: the result's structure of ShapeDtypeStruct.

    Raises:
        TypeError: ``fun`` cannot be called.
    """
    if not callable(fun):
        raise not_callable("fun", fun)
    settings = Settings(fun, static_argnums, None, None, None, True, False, None, None, None)

    def traced(*args: Any, **kwargs: Any) -> Any:
        with ExitStack() as stack:
            for axis, size in axis_env or ():
                stack.enter_context(bound_axis(axis, size))
            _, program = settings.traced_at(args, kwargs)
        if not return_shape:
            return program.closed
        shapes = list(map(shape_struct, program.closed.out_avals))
        return program.closed, tree_unflatten(program.out_tree, shapes)

    return update_wrapper(traced, fun)


@reword_errors
def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Shapes and dtypes of ``fun(*args, **kwargs)`` without computing it.

    Arguments need only ``shape`` and ``dtype``; the result has ``ShapeDtypeStruct`` leaves.
    """
    leaves, in_tree = tree_flatten((args, kwargs))
    if _is_jitted(fun):  # it knows which arguments are static, and where results are to be
        args, kwargs = tree_unflatten(in_tree, described(leaves))
        return cast("Any", fun).eval_shape(*args, **kwargs)

    arguments = split_arguments(fun, args, kwargs)
    name = function_name(fun)
    avals = types_of(described(leaves), lambda i: f"eval_shape of {name}: {arguments.path(i)}")
    program = trace_function(fun, arguments, avals)
    return tree_unflatten(program.out_tree, list(map(shape_struct, program.call.out_avals)))


def _is_jitted(f: Any) -> bool:
    """Tell whether ``jit`` made the function; one that only wraps such a function has its
    attributes."""
    settings = getattr(f, "_settings", None)
    return isinstance(settings, Settings) and f.__wrapped__ is settings.fun


@reword_errors
def clear_caches() -> None:
    """Empty all caches: of traced programs, compiled programs, types and plans of operations.

    Those are emptied that :mod:`dovetail_base.caches` lists, which are all of Dovetail and its
    plugins, and those of jaxlib. The cache on disk stays.

    What programs held of functions, of values that these close over and of functions that are
    called back is free after Python's next garbage collection.
    """
    forget_all()
