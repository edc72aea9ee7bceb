"""Rules of ``refs.discharge``: references in branches and loops."""

from . import (
    control_flow as control_flow,
)
