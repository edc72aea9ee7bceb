"""Derivatives of functions of sparse arrays: those with respect to stored elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, NamedTuple

import dovetail_ad as ad
import dovetail_tree.util as tree
from dovetail_batching import vmap

from .lifting.carrier import is_sparse, with_data

Fun = Callable[..., Any]


class _Chosen(NamedTuple):
    """The leaves of the arguments that are differentiated, and their structure."""

    leaves: list[Any]
    structure: Any

    def data(self) -> list[Any]:
        return [x.data if is_sparse(x) else x for x in self.leaves]

    def rebuilt(self, data: Sequence[Any]) -> list[Any]:
        """The arguments with other stored elements; where these have further axes, batches."""
        return tree.tree_unflatten(
            self.structure, [_like(x, d) if is_sparse(x) else d for x, d in zip(self.leaves, data)]
        )


def _like(x: Any, data: Any) -> Any:
    def build(data: Any) -> Any:
        return with_data(x, data)

    for _ in range(data.ndim - x.data.ndim):
        build = vmap(build)
    return build(data)


def _differentiating(
    transform: Callable[..., Fun], fun: Fun, argnums: int | Sequence[int], has_aux: bool,
    finish: Callable[[Any, Any, Callable[[list[Any]], Any]], Any], options: dict[str, Any],
) -> Fun:  # fmt: skip
    """``transform(fun)``, where sparse arguments are differentiated by their elements.

    ``finish(result, structure, rebuild)`` makes the result from that of ``transform``, given
    the structure of the function's output and how derivatives become arguments again.
    """
    numbers = [argnums] if isinstance(argnums, int) else list(argnums)

    @wraps(fun)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = tree.tree_flatten([args[i] for i in numbers], is_leaf=is_sparse)
        chosen = _Chosen(leaves, structure)
        out_structure: list[Any] = []

        def on_data(data: list[Any]) -> Any:
            given = list(args)
            for i, x in zip(numbers, chosen.rebuilt(data)):
                given[i] = x
            out = fun(*given, **kwargs)
            out_structure[:] = [tree.tree_structure(out[0] if has_aux else out)]
            return out

        def rebuild(data: list[Any]) -> Any:
            results = chosen.rebuilt(data)
            return results[0] if isinstance(argnums, int) else tuple(results)

        result = transform(on_data, has_aux=has_aux, **options)(chosen.data())
        return finish(result, out_structure[0], rebuild)

    return differentiated


def grad(fun: Fun, argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any) -> Fun:
    """:func:`dovetail.grad` for functions of sparse arrays.

    The gradient with respect to a sparse array is sparse: of its stored elements.
    """

    def finish(result: Any, structure: Any, rebuild: Callable[[list[Any]], Any]) -> Any:
        return (rebuild(result[0]), result[1]) if has_aux else rebuild(result)

    return _differentiating(ad.grad, fun, argnums, has_aux, finish, kwargs)


def value_and_grad(
    fun: Fun, argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any
) -> Fun:
    """:func:`dovetail.value_and_grad` for functions of sparse arrays; see :func:`grad`."""

    def finish(result: Any, structure: Any, rebuild: Callable[[list[Any]], Any]) -> Any:
        return result[0], rebuild(result[1])

    return _differentiating(ad.value_and_grad, fun, argnums, has_aux, finish, kwargs)


def jacfwd(fun: Fun, argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any) -> Fun:
    """:func:`dovetail.jacfwd` for functions of sparse arrays.

    The Jacobian with respect to an array in BCOO format has the axes of the result as batch axes.
    """
    return _jacobian(ad.jacfwd, fun, argnums, has_aux, kwargs)


def jacrev(fun: Fun, argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any) -> Fun:
    """:func:`dovetail.jacrev` for functions of sparse arrays; see :func:`jacfwd`."""
    return _jacobian(ad.jacrev, fun, argnums, has_aux, kwargs)


jacobian = jacrev


def _jacobian(
    transform: Callable[..., Fun], fun: Fun, argnums: int | Sequence[int], has_aux: bool,
    options: dict[str, Any],
) -> Fun:  # fmt: skip
    def finish(result: Any, structure: Any, rebuild: Callable[[list[Any]], Any]) -> Any:
        results, *aux = result if has_aux else (result,)
        parts = structure.flatten_up_to(results)
        jacobians = tree.tree_unflatten(structure, [rebuild(part) for part in parts])
        return (jacobians, *aux) if has_aux else jacobians

    return _differentiating(transform, fun, argnums, has_aux, finish, options)
