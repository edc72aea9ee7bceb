"""Checks that are data: ``check`` says what must hold, ``checked(f)`` also returns what did not."""

from dovetail_core import hide_frames

from .check import CheckError as CheckError, check as check
from .checked import checked as checked
from .error import Error as Error

__all__ = ["CheckError", "Error", "check", "checked"]
hide_frames(__name__)  # a mistake is in the line that uses this package
