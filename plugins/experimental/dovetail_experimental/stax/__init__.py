"""Networks as pairs of functions: the public names of ``jax.example_libraries.stax``.

A layer is a pair ``(init_fun, apply_fun)``: ``init_fun(rng, input_shape)`` returns the shape of the
output and the parameters, ``apply_fun(params, inputs, **kwargs)`` the output.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_experimental.stax.combinators import (
        FanInConcat as FanInConcat,
        FanInSum as FanInSum,
        FanOut as FanOut,
        Identity as Identity,
        parallel as parallel,
        serial as serial,
        shape_dependent as shape_dependent,
    )
    from dovetail_experimental.stax.convolutions import (
        Conv as Conv,
        Conv1DTranspose as Conv1DTranspose,
        ConvTranspose as ConvTranspose,
        GeneralConv as GeneralConv,
        GeneralConvTranspose as GeneralConvTranspose,
    )
    from dovetail_experimental.stax.layers import (
        BatchNorm as BatchNorm,
        Dense as Dense,
        Dropout as Dropout,
        Elu as Elu,
        Exp as Exp,
        Flatten as Flatten,
        Gelu as Gelu,
        LeakyRelu as LeakyRelu,
        LogSoftmax as LogSoftmax,
        Relu as Relu,
        Selu as Selu,
        Sigmoid as Sigmoid,
        Softmax as Softmax,
        Softplus as Softplus,
        Tanh as Tanh,
        elementwise as elementwise,
        glorot as glorot,
        logsoftmax as logsoftmax,
        randn as randn,
    )
    from dovetail_experimental.stax.pooling import (
        AvgPool as AvgPool,
        MaxPool as MaxPool,
        SumPool as SumPool,
    )
    from dovetail_nn import (
        elu as elu,
        gelu as gelu,
        leaky_relu as leaky_relu,
        log_softmax as log_softmax,
        relu as relu,
        selu as selu,
        sigmoid as sigmoid,
        softmax as softmax,
        softplus as softplus,
        standardize as standardize,
    )
    from dovetail_nn.initializers import (
        glorot_normal as glorot_normal,
        normal as normal,
        ones as ones,
        zeros as zeros,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
