"""Rules of ``dce``: what can be dropped of operations whose results are not all used."""

from . import (
    control_flow as control_flow,
    sorting as sorting,
)
