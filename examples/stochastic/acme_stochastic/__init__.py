"""How many digits of a result are right: functions on machines that round at random."""

from dovetail_core import hide_frames

from .digits import samples as samples, significant_digits as significant_digits
from .machine import (
    randomly_rounded as randomly_rounded,
    rounding as rounding,
    rounding_rules as rounding_rules,
)

__all__ = ["randomly_rounded", "rounding", "rounding_rules", "samples", "significant_digits"]

hide_frames(__name__)  # a mistake is in the line that uses this package
