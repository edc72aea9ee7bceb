"""Running checkpointed calls."""

from . import placement as placement, rules as rules
