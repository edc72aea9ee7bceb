"""Differentiating a checkpointed call."""
