"""Packages that can also be called, like the function that has their name.

``from dovetail_core import registry`` is a function, and ``dovetail_core.registry`` a package. If
the attribute were the function, ``import dovetail_core.registry.manifest as m`` would look for
``manifest`` in a function. So the attribute is the package, which is made callable.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from inspect import signature
from types import ModuleType
from typing import Any


def callable_package(name: str, function: Callable[..., Any]) -> Any:
    """The package ``name``, which is imported, made to be called like ``function``.

    A call adds no Python frame. Attributes that the package lacks are looked up in the function.
    """

    class CallablePackage(ModuleType):
        __call__ = staticmethod(function)

        @property
        def __signature__(self) -> Any:
            return signature(function)

        def __getattr__(self, attribute: str) -> Any:
            if not attribute.startswith("__") and hasattr(function, attribute):
                return getattr(function, attribute)
            raise AttributeError(f"module {name!r} has no attribute {attribute!r}")

    package = sys.modules[name]
    package.__class__ = CallablePackage
    return package
