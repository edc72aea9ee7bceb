"""``minimize``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base.foreign import reword_errors
from dovetail_base.source import not_callable, short_repr
from dovetail_core import here

from ..arguments import Array, array
from .bfgs import OptimizeResults, minimize_bfgs, minimize_lbfgs, objective

METHODS: dict[str, Callable[..., OptimizeResults]] = {
    "bfgs": minimize_bfgs,
    "l-bfgs-experimental-do-not-rely-on-this": minimize_lbfgs,
}


@reword_errors
def minimize(
    fun: Callable[..., Any], x0: Array, args: tuple[Any, ...] = (), *, method: str,
    tol: float | None = None, options: Mapping[str, Any] | None = None,
) -> OptimizeResults:  # fmt: skip
    """Minimize a function of a vector, starting from ``x0``.

    Args:
        fun: ``fun(x, *args)`` returns a real scalar; it must be differentiable.
        x0: a vector of floating-point numbers, or for L-BFGS of complex ones.
        method: ``"BFGS"``, or ``"l-bfgs-experimental-do-not-rely-on-this"``, which keeps a few
            vectors instead of a matrix. Both search lines for the strong conditions of Wolfe.
        tol: the ``gtol`` of the options.
        options: ``gtol``, the norm of the gradient below which it stops; ``norm``, of which order;
            ``maxiter``. BFGS has ``line_search_maxiter``, the most trials of a line search. L-BFGS
            has ``maxls`` for that, ``maxcor``, the number of steps it keeps, ``ftol``, the
            relative decrease below which it stops, ``maxfun`` and ``maxgrad``.

    Raises:
        TypeError: ``fun`` is not a function or does not return a real scalar, ``args`` is no tuple,
            ``x0`` is no vector of floating-point numbers, or there is no such option.
        ValueError: there is no such method.
    """
    if not callable(fun):
        raise not_callable("fun", fun)
    if not isinstance(args, tuple):
        raise TypeError(
            f"minimize: args must be a tuple, got {short_repr(args)}{here()}. Write args=(x,)."
        )
    result = METHODS.get(method.lower()) if isinstance(method, str) else None
    if result is None:
        raise ValueError(
            f"minimize: method must be 'BFGS' or 'l-bfgs-experimental-do-not-rely-on-this', got "
            f"{short_repr(method)}{here()}"
        )
    start = array("minimize", x0, 1)
    if start.dtype.kind == "c" and start.ndim == 1 and result is minimize_lbfgs:
        return _of_complex(fun, start, args, method=method, tol=tol, options=options)
    if start.ndim != 1 or not dnp.issubdtype(start.dtype, dnp.floating):
        raise TypeError(
            f"minimize: x0 must be a vector of floating-point numbers, got "
            f"{start.aval.str_short()}{here()}"
        )
    chosen = ({} if tol is None else {"gtol": tol}) | dict(options or {})
    names = list(signature(result).parameters)[2:]
    for name in chosen:
        if name not in names:
            raise TypeError(
                f"minimize: {method} has no option {short_repr(name)}{here()}. It has "
                f"{', '.join(names)}."
            )
    return result(objective(fun, args), start, **chosen)


def _of_complex(fun: Callable[..., Any], x0: Any, args: tuple[Any, ...], **given: Any) -> Any:
    """:func:`minimize` for complex ``x0``, by real and imaginary parts, ``jac`` like ``grad``'s."""
    n = x0.shape[0]

    def of_parts(x: Any, *args: Any) -> Any:
        return fun(lax.complex(x[:n], x[n:]), *args)

    result = minimize(of_parts, lax.concatenate([x0.real, x0.imag], 0), args, **given)
    x, jac = (lax.complex(v[:n], v[n:]) for v in (result.x, result.jac))
    return result._replace(x=x, jac=lax.conj(jac))
