"""Parts of a program that repeat are compiled once: each instance becomes a call of one program."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .outlining import outlined as outlined
    from .primitive import repeated_p as repeated_p
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
