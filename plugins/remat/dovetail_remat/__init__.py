"""Rematerialisation: computing intermediate values again instead of keeping them."""

from . import policies as checkpoint_policies
from .api import checkpoint as checkpoint, checkpoint_name as checkpoint_name, remat as remat

__all__ = ["checkpoint", "checkpoint_name", "checkpoint_policies", "remat"]
