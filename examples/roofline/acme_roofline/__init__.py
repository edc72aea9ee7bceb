"""What array programs cost, line by line, and what bounds them: a third-party Dovetail plugin."""

from dovetail_core import hide_frames
from dovetail_experimental.roofline import (
    Cost as Cost,
    Nested as Nested,
    cost_rules as cost_rules,
)

from .entry import Entry as Entry
from .machine import Machine as Machine, measure as measure
from .report import Report as Report, roofline as roofline

__all__ = ["Cost", "Entry", "Machine", "Nested", "Report", "cost_rules", "measure", "roofline"]

hide_frames(__name__)  # what runs is of the line that uses this package
