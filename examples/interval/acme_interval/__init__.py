"""Interval bounds of functions, and the Gudermannian function: a third-party Dovetail plugin."""

from .bounds import bounds_rules as bounds_rules, interval as interval
from .gudermannian import gudermannian as gudermannian, gudermannian_p as gudermannian_p

__all__ = ["gudermannian", "interval"]
