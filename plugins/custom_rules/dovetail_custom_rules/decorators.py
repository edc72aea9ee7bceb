"""JAX's decorators, as subclasses of :class:`custom`, and functions made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from dovetail_lax import full, map as lax_map
from dovetail_tree.util import tree_flatten, tree_map, tree_structure, tree_unflatten

from .checks import check_value, differences, name_of, path_of
from .function import custom


class custom_jvp(custom):
    """A function with a rule of forward mode, which its author defines by ``defjvp``.

    Args:
        nondiff_argnums, nondiff_argnames: arguments that are not differentiated. The rule gets
            them first: ``jvp(*nondiff, primals, tangents)``.
    """

    _needs = (("jvp", "custom_jvp", "defjvp"),)

    def __init__(
        self, fun: Callable[..., Any], nondiff_argnums: int | Sequence[int] = (),
        nondiff_argnames: str | Iterable[str] = (),
    ) -> None:  # fmt: skip
        super().__init__(fun, nondiff_argnums, nondiff_argnames)

    @property
    def jvp(self) -> Callable[..., Any] | None:
        """The rule that was defined, or None."""
        return self._defined("jvp", 0)

    @property
    def symbolic_zeros(self) -> bool:
        """True if the rule takes zero tangents as ``SymbolicZero``."""
        return bool(self._defined("jvp", 1))


class custom_vjp(custom):
    """A function with a rule of reverse mode, which its author defines by ``defvjp``.

    It has forward mode, too: the tangent map is the transpose of the backward function.

    Args:
        nondiff_argnums, nondiff_argnames: arguments that are not differentiated. ``fwd`` gets all
            arguments in order, ``bwd`` these first.
    """

    _needs = (("vjp", "custom_vjp", "defvjp"),)

    def __init__(
        self, fun: Callable[..., Any], nondiff_argnums: int | Sequence[int] = (),
        nondiff_argnames: str | Iterable[str] = (),
    ) -> None:  # fmt: skip
        super().__init__(fun, nondiff_argnums, nondiff_argnames)

    @property
    def fwd(self) -> Callable[..., Any] | None:
        """The forward function that was defined, or None."""
        return self._defined("vjp", 0)

    @property
    def bwd(self) -> Callable[..., Any] | None:
        """The backward function that was defined, or None."""
        return self._defined("vjp", 1)

    @property
    def symbolic_zeros(self) -> bool:
        """True if rules take zeros as ``SymbolicZero``, and arguments as ``CustomVJPPrimal``."""
        return bool(self._defined("vjp", 2))

    @property
    def optimize_remat(self) -> bool:
        """True if the function itself runs when residuals are not needed."""
        return bool(self._defined("vjp", 3))


class custom_dce(custom):
    """A function with a rule, defined by ``def_dce``, that computes only the used results.

    Args:
        static_argnums: arguments that are not arrays. The rule gets them first.
    """

    _needs = (("dce", "custom_dce", "def_dce"),)

    def __init__(
        self, fun: Callable[..., Any], *, static_argnums: int | Sequence[int] = ()
    ) -> None:
        super().__init__(fun, static_argnums=static_argnums)


class custom_vmap(custom):
    """A function with a rule for ``vmap``, defined by ``def_vmap``.

    It may be differentiated in either mode, and carry other rules.
    """

    _needs = (("vmap", "custom_vmap", "def_vmap"),)

    def __init__(self, fun: Callable[..., Any]) -> None:
        super().__init__(fun)

    @property
    def vmap_rule(self) -> Callable[..., Any] | None:
        """The rule, None before it is defined."""
        return self.rules.by_kind.get("vmap")


class custom_transpose(custom):
    """A linear function with a transpose, defined by ``def_transpose``.

    ``fun(residuals, x)`` is linear in ``x`` and is called as ``f(out_types, residuals, x)``, where
    ``out_types`` is a pytree of the shapes and dtypes of the result; ``rule(residuals,
    cotangent)`` returns the cotangent of ``x``.
    """

    _needs = (("transpose", "custom_transpose", "def_transpose"),)

    def __init__(self, fun: Callable[..., Any]) -> None:
        super().__init__(fun)

    def __call__(self, out_types: Any, res_arg: Any, lin_arg: Any) -> Any:  # type: ignore[override]
        out = super().__call__(res_arg, lin_arg)
        _check_out_types(self.rules.name, out_types, out)
        return out


def _check_out_types(name: str, out_types: Any, out: Any) -> None:
    from dovetail_tree.util import tree_leaves

    tree, want = tree_structure(out), tree_structure(out_types)
    if tree != want:
        raise TypeError(
            f"{name} returned another structure than out_types says: {differences(want, tree)}"
        )
    for i, (x, t) in enumerate(zip(tree_leaves(out), tree_leaves(out_types))):
        got: Any = check_value(x, f"{name} returned a value that is not an array")
        if got.shape != tuple(t.shape) or got.dtype != t.dtype:
            path = path_of(tree, i)
            raise TypeError(
                f"{name} returned {got.str_short()}{f' for the output {path}' if path else ''}, "
                f"where out_types says {t}"
            )


def linear_call(
    fun: Callable[..., Any], fun_transpose: Callable[..., Any], residual_args: Any, linear_args: Any
) -> Any:
    """``fun(residual_args, linear_args)``, which is linear in ``linear_args``.

    Its transpose is ``fun_transpose(residual_args, cotangent)``, which is again such a call, with
    ``fun`` as its transpose. It may be differentiated with respect to the residuals, too.

    Returns: the result of ``fun``.

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
    return tree_map(_as_array, f(*tree_map(_as_array, (residual_args, linear_args))))


def _as_array(x: Any) -> Any:
    """``x``, a Python number as an array, as in staged functions."""
    return full((), x) if x.__class__ in (bool, int, float, complex) else x


def sequential_vmap(f: Callable[..., Any]) -> custom_vmap:
    """Decorator: under ``vmap``, call ``f`` for one element after another, in a loop."""
    made = custom_vmap(f)

    def looped(axis_size: int, in_batched: Any, *args: Any) -> tuple[Any, Any]:
        leaves, tree = tree_flatten(args)
        flags = tree_flatten(in_batched)[0]
        mapped = [x for x, b in zip(leaves, flags) if b]

        def one(xs: Any) -> Any:
            rest = iter(xs)
            given = [next(rest) if b else x for x, b in zip(leaves, flags)]
            return made.rules.fun(*tree_unflatten(tree, given))

        out = lax_map(one, mapped)
        return out, tree_map(lambda _: True, out)

    made.def_vmap(looped)
    return made
