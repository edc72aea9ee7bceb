"""Batching: ``vmap``, and collectives over mapped axes."""

from .api import vmap as vmap
from .tables import BatchRule as BatchRule, batch_rules as batch_rules
from .trace import Axis as Axis, carrier_of as carrier_of

__all__ = ["vmap"]
