"""``jax.extend.core.primitives``: those of JAX's list that Dovetail has, by JAX's names."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dovetail_core import Primitive as _Primitive

from .... import names as _names
from ....lookup import attributes as _attributes

_MODULES = (
    "dovetail_lax",
    "dovetail_lax.linalg",
    "dovetail_backends",
    "dovetail_custom_rules",
    "dovetail_custom_rules.linear_solve",
    "dovetail_jit.primitive",
    "dovetail_remat.primitive",
    "dovetail_random.primitives",
    "dovetail_random.threefry",
    "dovetail_random.draws.gamma",
    "dovetail_refs.primitives",
    "dovetail_jax_names.extending.primitive",
)
"""Modules with primitives, of the names that they have there."""
_OTHERS = {"add_jaxvals_p": "add_p"}

_absent, _listed = _attributes("jax.extend.core.primitives")


def __getattr__(name: str) -> Any:
    result = _lookup(name)
    return _absent(name) if result is None else result


def _lookup(name: str) -> _Primitive | None:
    """The primitive of a name, which is an attribute of the module afterwards."""
    if name.endswith("_p"):
        for module in _MODULES:
            result = getattr(import_module(module), _OTHERS.get(name, name), None)
            if isinstance(result, _Primitive):
                globals()[name] = result
                return result
    return None


def __dir__() -> list[str]:
    for name in _names.names_of("jax.extend.core.primitives"):
        _lookup(name)
    return _listed()
