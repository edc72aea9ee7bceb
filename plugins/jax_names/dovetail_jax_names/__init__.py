"""The names of JAX, answered by Dovetail: ``import jax`` in programs that were written for it.

The package imports nothing of Dovetail before somebody asks for ``jax``: every Python process of an
environment imports it where ``DOVETAIL_AS_JAX`` is set.
"""

from .hook import (
    JaxPresent as JaxPresent,
    install as install,
    is_installed as is_installed,
    load_ipython_extension as load_ipython_extension,
)
from .versions import UntestedVersion as UntestedVersion

__all__ = ["JaxPresent", "UntestedVersion", "install", "is_installed", "load_ipython_extension"]
