"""Incremental evaluation: what depends on changed slices of the inputs is computed again."""

from dovetail_core import hide_frames

from .incremental import (
    Cache as Cache,
    Change as Change,
    common_rows as common_rows,
    incremental as incremental,
    replaced as replaced,
    take as take,
    update as update,
    update_rules as update_rules,
)

hide_frames(__name__)  # a mistake is in the line that uses this package
