"""Dovetail: what programs import. Every name is loaded when it is first used (PEP 562)."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_ad.public import *
    from dovetail_backends.public import *
    from dovetail_base.options import (
        check_tracer_leaks as check_tracer_leaks,
        checking_leaks as checking_leaks,
        enable_checks as enable_checks,
        enable_x64 as enable_x64,
        make_user_context as make_user_context,
    )
    from dovetail_base.source import named_call as named_call, named_scope as named_scope
    from dovetail_batching import vmap as vmap
    from dovetail_callbacks import pure_callback as pure_callback
    from dovetail_checkify.debugging.options import (
        debug_infs as debug_infs,
        debug_nans as debug_nans,
    )
    from dovetail_core import config as config, float0 as float0, typeof as typeof
    from dovetail_custom_rules.public import *
    from dovetail_jit.public import *
    from dovetail_lax.dtypes import numpy_dtype_promotion as numpy_dtype_promotion
    from dovetail_lax.functions.precision import (
        default_matmul_precision as default_matmul_precision,
    )
    from dovetail_lax.monoids import allow_f16_reductions as allow_f16_reductions
    from dovetail_nn.functions.softmax import softmax_custom_jvp as softmax_custom_jvp
    from dovetail_numpy.indexing.windows import ds as ds
    from dovetail_numpy.promotion import numpy_rank_promotion as numpy_rank_promotion
    from dovetail_profiler.public import *
    from dovetail_random.generators import (
        default_prng_impl as default_prng_impl,
        enable_custom_prng as enable_custom_prng,
        legacy_prng_key as legacy_prng_key,
    )
    from dovetail_random.reuse.analysis import debug_key_reuse as debug_key_reuse
    from dovetail_random.threefry import threefry_partitionable as threefry_partitionable
    from dovetail_refs.public import *
    from dovetail_remat.public import *
    from dovetail_services.public import *
    from dovetail_sharding.public import *

    from . import (
        ad as ad,
        ad_checkpoint as ad_checkpoint,
        custom_batching as custom_batching,
        custom_derivatives as custom_derivatives,
        debug as debug,
        distributed as distributed,
        dlpack as dlpack,
        dtypes as dtypes,
        errors as errors,
        example_libraries as example_libraries,
        experimental as experimental,
        extend as extend,
        flatten_util as flatten_util,
        hijax as hijax,
        image as image,
        jax as jax,
        lax as lax,
        memory as memory,
        monitoring as monitoring,
        nn as nn,
        numpy as numpy,
        ops as ops,
        profiler as profiler,
        random as random,
        ref as ref,
        scipy as scipy,
        sharding as sharding,
        stages as stages,
        test_util as test_util,
        tree as tree,
        tree_util as tree_util,
        typing as typing,
    )
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)

from .version import __version__ as __version__
