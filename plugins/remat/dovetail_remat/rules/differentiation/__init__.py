"""Differentiating checkpointed calls."""

from . import identities as identities, rules as rules
