"""Activations, softmax, attention and initializers: the public names of ``jax.nn``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.base.lazy import lazy_exports as _lazy_exports

if TYPE_CHECKING:
    from . import (
        initializers as initializers,
    )
    from .functions.attention import (
        dot_product_attention as dot_product_attention,
    )
    from .functions.blocks import (
        scaled_matmul as scaled_matmul,
    )
    from .functions.piecewise import (
        celu as celu,
        elu as elu,
        hard_sigmoid as hard_sigmoid,
        hard_silu as hard_silu,
        hard_swish as hard_swish,
        hard_tanh as hard_tanh,
        leaky_relu as leaky_relu,
        relu as relu,
        relu6 as relu6,
        selu as selu,
        soft_sign as soft_sign,
        sparse_plus as sparse_plus,
        sparse_sigmoid as sparse_sigmoid,
    )
    from .functions.scaling import (
        one_hot as one_hot,
        standardize as standardize,
    )
    from .functions.smooth import (
        gelu as gelu,
        glu as glu,
        identity as identity,
        log1mexp as log1mexp,
        log_sigmoid as log_sigmoid,
        mish as mish,
        sigmoid as sigmoid,
        silu as silu,
        softplus as softplus,
        squareplus as squareplus,
        swish as swish,
        tanh as tanh,
    )
    from .functions.softmax import (
        log_softmax as log_softmax,
        logmeanexp as logmeanexp,
        logsumexp as logsumexp,
        softmax as softmax,
    )

# Written by tools/make_lazy.py from the imports above.
_WHERE = {
    "celu": "functions.piecewise",
    "dot_product_attention": "functions.attention",
    "elu": "functions.piecewise",
    "gelu": "functions.smooth",
    "glu": "functions.smooth",
    "hard_sigmoid": "functions.piecewise",
    "hard_silu": "functions.piecewise",
    "hard_swish": "functions.piecewise",
    "hard_tanh": "functions.piecewise",
    "identity": "functions.smooth",
    "initializers": "",
    "leaky_relu": "functions.piecewise",
    "log1mexp": "functions.smooth",
    "log_sigmoid": "functions.smooth",
    "log_softmax": "functions.softmax",
    "logmeanexp": "functions.softmax",
    "logsumexp": "functions.softmax",
    "mish": "functions.smooth",
    "one_hot": "functions.scaling",
    "relu": "functions.piecewise",
    "relu6": "functions.piecewise",
    "scaled_matmul": "functions.blocks",
    "selu": "functions.piecewise",
    "sigmoid": "functions.smooth",
    "silu": "functions.smooth",
    "soft_sign": "functions.piecewise",
    "softmax": "functions.softmax",
    "softplus": "functions.smooth",
    "sparse_plus": "functions.piecewise",
    "sparse_sigmoid": "functions.piecewise",
    "squareplus": "functions.smooth",
    "standardize": "functions.scaling",
    "swish": "functions.smooth",
    "tanh": "functions.smooth",
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


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
