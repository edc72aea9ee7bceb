"""Names that a private module has not itself: public ones, and what is said of all others."""

from __future__ import annotations

import sys
from typing import Any

from dovetail_base.lazy import absent_name
from dovetail_jax_names import absence

from .names import home, load, names_of


def absent(module: str, name: str, above: int = 2) -> Exception:
    """The error for ``name`` of one of JAX's private modules, for which that many frames ``above``
    somebody asks."""
    text = f"module {module!r} has no attribute {name!r}. {absence.PRIVATE}"
    if module not in sys.modules:  # it was not imported, but is an attribute of what was
        return AttributeError(text, name=name)
    return absent_name(text, module, name, sys._getframe(above))  # pyright: ignore[reportPrivateUsage]


_PUBLIC = {
    "jax._src.ad_util": ("jax.interpreters.ad",),
    "jax._src.api_util": ("jax.api_util",),
    "jax._src.checkify": ("jax.experimental.checkify",),
    "jax._src.core": ("jax.extend.core", "jax.core"),
    "jax._src.dtypes": ("jax.dtypes",),
    "jax._src.flatten_util": ("jax.flatten_util",),
    "jax._src.interpreters.pxla": ("jax.interpreters.pxla",),
    "jax._src.public_test_util": ("jax.test_util",),
    "jax._src.tree_util": ("jax.tree_util",),
    "jax._src.xla_bridge": ("jax.extend.backend",),
}
"""The public modules for which JAX takes names from a private one, in which libraries look for them
as well: asdex for ``ClosedJaxpr`` and ``JaxprEqn`` in ``jax._src.core``."""


def public(module: str, name: str) -> Any:
    """The public name of which a private module is the home.

    Raises:
        AttributeError, ImportError: there is none.
    """
    if not name.startswith("_"):
        for each in _PUBLIC.get(module, ()):
            if name in names_of(each) and hasattr(result := load(home(each)), name):
                return getattr(result, name)
    raise absent(module, name, 3)
