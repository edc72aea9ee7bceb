"""The public names of ``jax.experimental.checkify``."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .errors import (
        Error as Error,
        ErrorCategory as ErrorCategory,
        JaxRuntimeError as JaxRuntimeError,
        all_checks as all_checks,
        automatic_checks as automatic_checks,
        div_checks as div_checks,
        float_checks as float_checks,
        index_checks as index_checks,
        init_error as init_error,
        nan_checks as nan_checks,
        user_checks as user_checks,
    )
    from .functionalize import checkify as checkify
    from .functions import (
        check as check,
        check_error as check_error,
        debug_check as debug_check,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
