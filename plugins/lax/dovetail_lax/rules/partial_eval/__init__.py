"""Rules of ``ad.partial_eval``: operations that can be computed in part."""

from . import (
    control_flow as control_flow,
)
