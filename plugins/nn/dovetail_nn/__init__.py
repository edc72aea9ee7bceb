"""Activations, softmax, attention and initializers: the public names of ``jax.nn``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.lazy import lazy_exports as _lazy_exports

if TYPE_CHECKING:
    from . import (
        initializers as initializers,
    )
    from .functions.activations import (
        celu as celu,
        elu as elu,
        gelu as gelu,
        glu as glu,
        hard_sigmoid as hard_sigmoid,
        hard_silu as hard_silu,
        hard_swish as hard_swish,
        hard_tanh as hard_tanh,
        identity as identity,
        leaky_relu as leaky_relu,
        log1mexp as log1mexp,
        log_sigmoid as log_sigmoid,
        mish as mish,
        relu as relu,
        relu6 as relu6,
        selu as selu,
        sigmoid as sigmoid,
        silu as silu,
        soft_sign as soft_sign,
        softplus as softplus,
        sparse_plus as sparse_plus,
        sparse_sigmoid as sparse_sigmoid,
        squareplus as squareplus,
        swish as swish,
        tanh as tanh,
    )
    from .functions.attention import (
        dot_product_attention as dot_product_attention,
        scaled_matmul as scaled_matmul,
    )
    from .functions.softmax import (
        log_softmax as log_softmax,
        logmeanexp as logmeanexp,
        logsumexp as logsumexp,
        one_hot as one_hot,
        softmax as softmax,
        standardize as standardize,
    )

# Written by tools/make_lazy.py from the imports above.
_WHERE = {
    "celu": "functions.activations",
    "dot_product_attention": "functions.attention",
    "elu": "functions.activations",
    "gelu": "functions.activations",
    "glu": "functions.activations",
    "hard_sigmoid": "functions.activations",
    "hard_silu": "functions.activations",
    "hard_swish": "functions.activations",
    "hard_tanh": "functions.activations",
    "identity": "functions.activations",
    "initializers": "",
    "leaky_relu": "functions.activations",
    "log1mexp": "functions.activations",
    "log_sigmoid": "functions.activations",
    "log_softmax": "functions.softmax",
    "logmeanexp": "functions.softmax",
    "logsumexp": "functions.softmax",
    "mish": "functions.activations",
    "one_hot": "functions.softmax",
    "relu": "functions.activations",
    "relu6": "functions.activations",
    "scaled_matmul": "functions.attention",
    "selu": "functions.activations",
    "sigmoid": "functions.activations",
    "silu": "functions.activations",
    "soft_sign": "functions.activations",
    "softmax": "functions.softmax",
    "softplus": "functions.activations",
    "sparse_plus": "functions.activations",
    "sparse_sigmoid": "functions.activations",
    "squareplus": "functions.activations",
    "standardize": "functions.softmax",
    "swish": "functions.activations",
    "tanh": "functions.activations",
}
__all__ = [
    "celu",
    "dot_product_attention",
    "elu",
    "gelu",
    "glu",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "identity",
    "initializers",
    "leaky_relu",
    "log1mexp",
    "log_sigmoid",
    "log_softmax",
    "logmeanexp",
    "logsumexp",
    "mish",
    "one_hot",
    "relu",
    "relu6",
    "scaled_matmul",
    "selu",
    "sigmoid",
    "silu",
    "soft_sign",
    "softmax",
    "softplus",
    "sparse_plus",
    "sparse_sigmoid",
    "squareplus",
    "standardize",
    "swish",
    "tanh",
]

__getattr__ = _lazy_exports(__name__, _WHERE)
