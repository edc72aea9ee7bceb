"""First-order optimizers: the public names of ``jax.example_libraries.optimizers``.

An optimizer is a triple ``(init_fun, update_fun, get_params)``: ``init_fun(params)`` returns a
state, ``update_fun(step, gradients, state)`` the next, ``get_params(state)`` the parameters in it.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_experimental.optimizers.adaptive import (
        adagrad as adagrad,
        adam as adam,
        adamax as adamax,
        rmsprop as rmsprop,
        rmsprop_momentum as rmsprop_momentum,
        sm3 as sm3,
    )
    from dovetail_experimental.optimizers.descent import (
        momentum as momentum,
        nesterov as nesterov,
        sgd as sgd,
    )
    from dovetail_experimental.optimizers.schedules import (
        constant as constant,
        exponential_decay as exponential_decay,
        inverse_time_decay as inverse_time_decay,
        make_schedule as make_schedule,
        piecewise_constant as piecewise_constant,
        polynomial_decay as polynomial_decay,
    )
    from dovetail_experimental.optimizers.state import (
        InitFn as InitFn,
        JoinPoint as JoinPoint,
        Optimizer as Optimizer,
        OptimizerState as OptimizerState,
        Params as Params,
        ParamsFn as ParamsFn,
        Schedule as Schedule,
        State as State,
        Step as Step,
        UpdateFn as UpdateFn,
        Updates as Updates,
        clip_grads as clip_grads,
        l2_norm as l2_norm,
        optimizer as optimizer,
        pack_optimizer_state as pack_optimizer_state,
        unpack_optimizer_state as unpack_optimizer_state,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
