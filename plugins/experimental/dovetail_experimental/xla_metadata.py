"""Metadata for XLA: attributes of the operations that functions and values are made of."""

from __future__ import annotations

from typing import Any

from dovetail_base.source_info import annotate
from dovetail_core import callable_name, here
from dovetail_tree.util import tree_map

from .primitives import xla_metadata_value_p

__all__ = ["set_xla_metadata"]

_ABSENT: Any = object()


def set_xla_metadata(x: Any = _ABSENT, **kwargs: Any) -> Any:
    """Give operations attributes that XLA sees (``mhlo.frontend_attributes``).

    Without ``x`` this is a context manager and a decorator: every operation that is traced inside
    has the attributes, and so have the operations of its derivatives and of its mapped form.
    Contexts within each other add up; None takes an attribute away.

    Args:
        x: a pytree of arrays. The operations whose results they are have the attributes, no
            others; those of derivatives have not.
        kwargs: the attributes: strings, or what is written as one.

    Returns: the context, or the arrays.

    Raises:
        TypeError: ``x`` is a function (call ``set_xla_metadata(...)`` first), or an attribute is a
            list, a dictionary or something else that cannot be hashed.
    """
    attributes = {k: None if v is None else text_of(k, v) for k, v in kwargs.items()}
    if x is _ABSENT:
        return annotate(attributes)
    if callable(x):
        raise TypeError(
            f"set_xla_metadata{here()}: x is the function {callable_name(x)}; attributes of what "
            "it does are set by set_xla_metadata(...)(f)."
        )
    pairs = tuple(sorted((k, v) for k, v in attributes.items() if v is not None))
    if not pairs:
        return x
    return tree_map(lambda a: xla_metadata_value_p.bind(a, attributes=pairs), x)


def text_of(name: str, value: Any) -> str:
    """An attribute as XLA has it.

    Raises:
        TypeError: it cannot be hashed.
    """
    try:
        hash(value)
    except TypeError:
        raise TypeError(
            f"set_xla_metadata{here()}: {name} is {value!r:.60}, of type {type(value).__name__}; "
            "attributes are strings, numbers or booleans."
        ) from None
    return str(value).lower() if isinstance(value, bool) else str(value)
