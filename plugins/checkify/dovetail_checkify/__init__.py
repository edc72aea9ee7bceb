"""Checks whose failures are values, and the rule table of checks of primitives."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .errors import (
        BatchedError as BatchedError,
        DivisionByZeroError as DivisionByZeroError,
        FailedCheckError as FailedCheckError,
        JaxException as JaxException,
        NaNError as NaNError,
        OOBError as OOBError,
    )
    from .primitive import check_p as check_p
    from .public import *  # noqa: F403
    from .tables import (
        CheckRule as CheckRule,
        Report as Report,
        check_nan as check_nan,
        check_rules as check_rules,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
