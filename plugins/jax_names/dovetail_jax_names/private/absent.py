"""What is said of a private name that nothing answers for."""

from __future__ import annotations

import sys

from dovetail_core.base.lazy import absent_name
from dovetail_jax_names import absence


def absent(module: str, name: str) -> Exception:
    """The error for ``name`` of one of JAX's private modules."""
    text = f"module {module!r} has no attribute {name!r}. {absence.PRIVATE}"
    if module not in sys.modules:  # it was not imported, but is an attribute of what was
        return AttributeError(text, name=name)
    return absent_name(text, module, name, sys._getframe(2))  # pyright: ignore[reportPrivateUsage]
