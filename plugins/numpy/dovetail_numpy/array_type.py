"""What other libraries learn of the runtime's array type by its name.

Those that work with arrays of many kinds (opt_einsum) look for a kind's functions in the package
that its type names as its module, and at the runtime's own name, ``jaxlib``, they import JAX.
"""

from __future__ import annotations

from dovetail_core.xla.arrays import ArrayImpl

ArrayImpl.__module__ = __name__  # where it is found indeed, by pickle too
