"""The names that ``dovetail`` itself has of the plugin ``warming``."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .precompile.compile_all import compile_all as compile_all
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
