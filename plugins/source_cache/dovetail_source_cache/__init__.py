"""Programs found by the code of their functions: a later process need not trace them.

``modules`` says what is a library and taken at its version, ``installed`` what those versions are,
``code`` what a piece of code refers to, ``digest``, ``kinds`` and ``functions`` make the digest of
all that a function is made of, ``reads`` notices files that are read meanwhile, and ``provider``
asks the cache.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .refusal import NotSound as NotSound
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
