"""``import dovetail.nn.initializers``: the names of dovetail_nn.initializers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.registry.facade_names import facade_getattr as _facade_getattr

if TYPE_CHECKING:
    from dovetail_nn.initializers import (
        Initializer as Initializer,
        constant as constant,
        delta_orthogonal as delta_orthogonal,
        glorot_normal as glorot_normal,
        glorot_uniform as glorot_uniform,
        he_normal as he_normal,
        he_uniform as he_uniform,
        kaiming_normal as kaiming_normal,
        kaiming_uniform as kaiming_uniform,
        lecun_normal as lecun_normal,
        lecun_uniform as lecun_uniform,
        normal as normal,
        ones as ones,
        orthogonal as orthogonal,
        truncated_normal as truncated_normal,
        uniform as uniform,
        variance_scaling as variance_scaling,
        xavier_normal as xavier_normal,
        xavier_uniform as xavier_uniform,
        zeros as zeros,
    )

_WHERE = {
    "Initializer": ("nn", "dovetail_nn.initializers:Initializer"),
    "constant": ("nn", "dovetail_nn.initializers:constant"),
    "delta_orthogonal": ("nn", "dovetail_nn.initializers:delta_orthogonal"),
    "glorot_normal": ("nn", "dovetail_nn.initializers:glorot_normal"),
    "glorot_uniform": ("nn", "dovetail_nn.initializers:glorot_uniform"),
    "he_normal": ("nn", "dovetail_nn.initializers:he_normal"),
    "he_uniform": ("nn", "dovetail_nn.initializers:he_uniform"),
    "kaiming_normal": ("nn", "dovetail_nn.initializers:kaiming_normal"),
    "kaiming_uniform": ("nn", "dovetail_nn.initializers:kaiming_uniform"),
    "lecun_normal": ("nn", "dovetail_nn.initializers:lecun_normal"),
    "lecun_uniform": ("nn", "dovetail_nn.initializers:lecun_uniform"),
    "normal": ("nn", "dovetail_nn.initializers:normal"),
    "ones": ("nn", "dovetail_nn.initializers:ones"),
    "orthogonal": ("nn", "dovetail_nn.initializers:orthogonal"),
    "truncated_normal": ("nn", "dovetail_nn.initializers:truncated_normal"),
    "uniform": ("nn", "dovetail_nn.initializers:uniform"),
    "variance_scaling": ("nn", "dovetail_nn.initializers:variance_scaling"),
    "xavier_normal": ("nn", "dovetail_nn.initializers:xavier_normal"),
    "xavier_uniform": ("nn", "dovetail_nn.initializers:xavier_uniform"),
    "zeros": ("nn", "dovetail_nn.initializers:zeros"),
}
__all__ = [
    "Initializer",
    "constant",
    "delta_orthogonal",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "kaiming_normal",
    "kaiming_uniform",
    "lecun_normal",
    "lecun_uniform",
    "normal",
    "ones",
    "orthogonal",
    "truncated_normal",
    "uniform",
    "variance_scaling",
    "xavier_normal",
    "xavier_uniform",
    "zeros",
]

__getattr__ = _facade_getattr(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
