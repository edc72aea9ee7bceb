"""Activations, softmax, attention and initializers: the public names of ``jax.nn``."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import initializers as initializers
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
    from .functions.attention import dot_product_attention as dot_product_attention
    from .functions.block_scaling import (
        get_scaled_dot_general_config as get_scaled_dot_general_config,
        scaled_dot_general as scaled_dot_general,
        scaled_matmul as scaled_matmul,
    )
    from .functions.normalization import one_hot as one_hot, standardize as standardize
    from .functions.softmax import (
        log_softmax as log_softmax,
        logmeanexp as logmeanexp,
        logsumexp as logsumexp,
        softmax as softmax,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)

__programs__ = """
celu elu glu hard_sigmoid hard_silu hard_swish hard_tanh identity leaky_relu log_sigmoid
log_softmax logmeanexp mish selu sigmoid silu soft_sign softplus sparse_plus sparse_sigmoid
squareplus standardize swish tanh
""".split()
