"""Initializers of parameters: the public names of ``jax.nn.initializers``.

An initializer is a function of a key, a shape and a dtype.
"""

from __future__ import annotations

from .basic import (
    Initializer as Initializer,
    constant as constant,
    normal as normal,
    ones as ones,
    truncated_normal as truncated_normal,
    uniform as uniform,
    zeros as zeros,
)
from .matrices import delta_orthogonal as delta_orthogonal, orthogonal as orthogonal
from .scaling import (
    glorot_normal as glorot_normal,
    glorot_uniform as glorot_uniform,
    he_normal as he_normal,
    he_uniform as he_uniform,
    kaiming_normal as kaiming_normal,
    kaiming_uniform as kaiming_uniform,
    lecun_normal as lecun_normal,
    lecun_uniform as lecun_uniform,
    variance_scaling as variance_scaling,
    xavier_normal as xavier_normal,
    xavier_uniform as xavier_uniform,
)

__all__ = [
    "Initializer", "constant", "delta_orthogonal", "glorot_normal", "glorot_uniform", "he_normal",
    "he_uniform", "kaiming_normal", "kaiming_uniform", "lecun_normal", "lecun_uniform", "normal",
    "ones", "orthogonal", "truncated_normal", "uniform", "variance_scaling", "xavier_normal",
    "xavier_uniform", "zeros",
]  # fmt: skip
