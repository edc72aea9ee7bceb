"""Integrals of sampled functions."""

from __future__ import annotations

from dovetail_numpy import trapezoid as trapezoid

__all__ = ["trapezoid"]
