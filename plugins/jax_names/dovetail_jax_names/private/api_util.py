"""``jax._src.api_util``. e3nn_jax: ``infer_argnums_and_argnames``, for its overloads."""

from __future__ import annotations

from collections.abc import Iterable
from inspect import Parameter, Signature
from typing import Any

from ..absent_names import public

_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


def infer_argnums_and_argnames(
    sig: Signature,
    argnums: int | Iterable[int] | None,
    argnames: str | Iterable[str] | None,
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Numbers and names of parameters, where one of both says which are meant."""
    parameters = sig.parameters
    positional = [n for n, p in parameters.items() if p.kind in _POSITIONAL]
    if argnums is None and argnames is None:
        return (), ()
    if argnums is None:
        names = (argnames,) if isinstance(argnames, str) else tuple(argnames or ())
        return tuple([i for i, n in enumerate(positional) if n in names]), names
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    if argnames is None:
        chosen = [positional[i] for i in numbers if -len(positional) <= i < len(positional)]
        return numbers, tuple([n for n in chosen if parameters[n].kind in _NAMED])
    return numbers, (argnames,) if isinstance(argnames, str) else tuple(argnames)


def __getattr__(name: str) -> Any:
    return public("jax._src.api_util", name)
