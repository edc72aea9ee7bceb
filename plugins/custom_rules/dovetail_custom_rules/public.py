"""The names that ``dovetail`` takes from the plugin ``custom_rules``."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .closures import closure_convert as closure_convert, custom_gradient as custom_gradient
    from .decorators import (
        custom_dce as custom_dce,
        custom_jvp as custom_jvp,
        custom_transpose as custom_transpose,
        custom_vjp as custom_vjp,
    )
    from .function import custom as custom
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
