"""Probabilistic programs: functions that sample and observe, and what can be asked of them."""

from dovetail_core import hide_frames

from .distributions import Bernoulli as Bernoulli, Gamma as Gamma, Normal as Normal
from .interpreters import (
    condition as condition,
    log_density as log_density,
    simulate as simulate,
)
from .sites import observe as observe, sample as sample

hide_frames(__name__)  # a mistake is in the line that uses this package
