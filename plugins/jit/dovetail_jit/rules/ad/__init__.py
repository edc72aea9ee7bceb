"""Differentiating a call."""
