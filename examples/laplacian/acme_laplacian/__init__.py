"""The forward Laplacian: value, gradient and Laplacian in one pass; a third-party plugin."""

from .forward import (
    LaplacianCarrier as LaplacianCarrier,
    forward_laplacian as forward_laplacian,
    forward_rules as forward_rules,
    laplacian as laplacian,
)

__all__ = ["forward_laplacian", "laplacian"]
