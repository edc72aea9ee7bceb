"""``linear_call``: a call of a linear function whose transpose is given with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .checks import name_of
from .function import custom


def linear_call(
    fun: Callable[..., Any], fun_transpose: Callable[..., Any], residual_args: Any, linear_args: Any
) -> Any:
    """``fun(residual_args, linear_args)``, which is linear in ``linear_args``.

    Its transpose is ``fun_transpose(residual_args, cotangent)``, which is again such a call, with
    ``fun`` as its transpose. It may be differentiated with respect to the residuals, too.

    Returns: what ``fun`` returns.

    Raises:
        TypeError: an argument is not callable; when transposed, ``fun_transpose`` does not return
            the structure and types of ``linear_args``.
    """
    for f in (fun, fun_transpose):
        if not callable(f):  # pyright: ignore[reportUnnecessaryComparison]
            raise TypeError(
                f"linear_call takes two functions, got {f!r} of type {type(f).__name__}"
            )

    def call(residuals: Any, linear: Any) -> Any:
        return fun(residuals, linear)

    def transposed(residuals: Any, cotangent: Any) -> Any:
        return linear_call(fun_transpose, fun, residuals, cotangent)

    call.__name__ = name_of(fun)
    transposed.__name__ = name_of(fun_transpose)
    f = custom(call)
    f.def_transpose(transposed)
    return f(residual_args, linear_args)
