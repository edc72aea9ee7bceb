"""Operations on arrays: the public names of ``jax.lax``, their primitives and their cells."""

from __future__ import annotations

from dovetail_core import hide_frames as _hide_frames

from .functions.accuracy import (
    AccuracyMode as AccuracyMode,
    Tolerance as Tolerance,
)
from .functions.arithmetic import (
    abs as abs,
    add as add,
    cbrt as cbrt,
    div as div,
    integer_pow as integer_pow,
    max as max,
    min as min,
    mul as mul,
    mulhi as mulhi,
    neg as neg,
    nextafter as nextafter,
    pow as pow,
    reciprocal as reciprocal,
    rem as rem,
    rsqrt as rsqrt,
    sign as sign,
    sqrt as sqrt,
    square as square,
    sub as sub,
)
from .functions.bits import (
    bitwise_and as bitwise_and,
    bitwise_not as bitwise_not,
    bitwise_or as bitwise_or,
    bitwise_xor as bitwise_xor,
    clz as clz,
    population_count as population_count,
    shift_left as shift_left,
    shift_right_arithmetic as shift_right_arithmetic,
    shift_right_logical as shift_right_logical,
)
from .functions.comparison import (
    eq as eq,
    ge as ge,
    gt as gt,
    le as le,
    lt as lt,
    ne as ne,
)
from .functions.complex import (
    complex as complex,
    conj as conj,
    imag as imag,
    real as real,
)
from .functions.conversion import (
    bitcast_convert_type as bitcast_convert_type,
    convert_element_type as convert_element_type,
    dtype as dtype,
)
from .functions.creation import (
    broadcasted_iota as broadcasted_iota,
    empty as empty,
    full as full,
    full_like as full_like,
    iota as iota,
)
from .functions.exponential import (
    exp as exp,
    exp2 as exp2,
    expm1 as expm1,
    log as log,
    log1p as log1p,
    logistic as logistic,
)
from .functions.identity import (
    optimization_barrier as optimization_barrier,
    stop_gradient as stop_gradient,
)
from .functions.rng import (
    rng_bit_generator as rng_bit_generator,
    rng_uniform as rng_uniform,
)
from .functions.rounding import (
    ceil as ceil,
    floor as floor,
    is_finite as is_finite,
    reduce_precision as reduce_precision,
    round as round,
)
from .functions.selection import (
    clamp as clamp,
    select as select,
    select_n as select_n,
)
from .functions.special import (
    bessel_i0e as bessel_i0e,
    bessel_i1e as bessel_i1e,
    betainc as betainc,
    digamma as digamma,
    erf as erf,
    erf_inv as erf_inv,
    erfc as erfc,
    igamma as igamma,
    igamma_grad_a as igamma_grad_a,
    igammac as igammac,
    lgamma as lgamma,
    polygamma as polygamma,
    random_gamma_grad as random_gamma_grad,
    zeta as zeta,
)
from .functions.trigonometric import (
    acos as acos,
    acosh as acosh,
    asin as asin,
    asinh as asinh,
    atan as atan,
    atan2 as atan2,
    atanh as atanh,
    cos as cos,
    cosh as cosh,
    sin as sin,
    sinh as sinh,
    tan as tan,
    tanh as tanh,
)
from .primitives.arithmetic import (
    abs_p as abs_p,
    add_p as add_p,
    cbrt_p as cbrt_p,
    div_p as div_p,
    integer_pow_p as integer_pow_p,
    max_p as max_p,
    min_p as min_p,
    mul_p as mul_p,
    mulhi_p as mulhi_p,
    neg_p as neg_p,
    nextafter_p as nextafter_p,
    pow_p as pow_p,
    rem_p as rem_p,
    rsqrt_p as rsqrt_p,
    sign_p as sign_p,
    sqrt_p as sqrt_p,
    square_p as square_p,
    sub_p as sub_p,
)
from .primitives.bits import (
    and_p as and_p,
    clz_p as clz_p,
    not_p as not_p,
    or_p as or_p,
    population_count_p as population_count_p,
    shift_left_p as shift_left_p,
    shift_right_arithmetic_p as shift_right_arithmetic_p,
    shift_right_logical_p as shift_right_logical_p,
    xor_p as xor_p,
)
from .primitives.comparison import (
    eq_p as eq_p,
    eq_to_p as eq_to_p,
    ge_p as ge_p,
    gt_p as gt_p,
    le_p as le_p,
    le_to_p as le_to_p,
    lt_p as lt_p,
    lt_to_p as lt_to_p,
    ne_p as ne_p,
)
from .primitives.complex import (
    complex_p as complex_p,
    conj_p as conj_p,
    imag_p as imag_p,
    real_p as real_p,
)
from .primitives.conversion import (
    bitcast_convert_type_p as bitcast_convert_type_p,
    convert_element_type_p as convert_element_type_p,
)
from .primitives.creation import (
    iota_p as iota_p,
)
from .primitives.exponential import (
    exp2_p as exp2_p,
    exp_p as exp_p,
    expm1_p as expm1_p,
    log1p_p as log1p_p,
    log_p as log_p,
    logistic_p as logistic_p,
)
from .primitives.identity import (
    copy_p as copy_p,
    optimization_barrier_p as optimization_barrier_p,
    stop_gradient_p as stop_gradient_p,
)
from .primitives.rng import (
    RandomAlgorithm as RandomAlgorithm,
    rng_bit_generator_p as rng_bit_generator_p,
    rng_uniform_p as rng_uniform_p,
)
from .primitives.rounding import (
    RoundingMethod as RoundingMethod,
    ceil_p as ceil_p,
    floor_p as floor_p,
    is_finite_p as is_finite_p,
    reduce_precision_p as reduce_precision_p,
    round_p as round_p,
)
from .primitives.selection import (
    clamp_p as clamp_p,
    select_n_p as select_n_p,
)
from .primitives.special import (
    bessel_i0e_p as bessel_i0e_p,
    bessel_i1e_p as bessel_i1e_p,
    digamma_p as digamma_p,
    erf_inv_p as erf_inv_p,
    erf_p as erf_p,
    erfc_p as erfc_p,
    igamma_grad_a_p as igamma_grad_a_p,
    igamma_p as igamma_p,
    igammac_p as igammac_p,
    lgamma_p as lgamma_p,
    polygamma_p as polygamma_p,
    random_gamma_grad_p as random_gamma_grad_p,
    regularized_incomplete_beta_p as regularized_incomplete_beta_p,
    zeta_p as zeta_p,
)
from .primitives.trigonometric import (
    acos_p as acos_p,
    acosh_p as acosh_p,
    asin_p as asin_p,
    asinh_p as asinh_p,
    atan2_p as atan2_p,
    atan_p as atan_p,
    atanh_p as atanh_p,
    cos_p as cos_p,
    cosh_p as cosh_p,
    sin_p as sin_p,
    sinh_p as sinh_p,
    tan_p as tan_p,
    tanh_p as tanh_p,
)

_hide_frames(__file__.rpartition("/")[0])

__all__ = [
    "AccuracyMode", "RandomAlgorithm", "RoundingMethod", "Tolerance", "abs", "abs_p", "acos",
    "acos_p", "acosh", "acosh_p", "add", "add_p", "and_p", "asin", "asin_p", "asinh", "asinh_p",
    "atan", "atan2", "atan2_p", "atan_p", "atanh", "atanh_p", "bessel_i0e", "bessel_i0e_p",
    "bessel_i1e", "bessel_i1e_p", "betainc", "bitcast_convert_type", "bitcast_convert_type_p",
    "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "broadcasted_iota", "cbrt",
    "cbrt_p", "ceil", "ceil_p", "clamp", "clamp_p", "clz", "clz_p", "complex", "complex_p",
    "conj", "conj_p", "convert_element_type", "convert_element_type_p", "copy_p", "cos",
    "cos_p", "cosh", "cosh_p", "digamma", "digamma_p", "div", "div_p", "dtype", "empty", "eq",
    "eq_p", "eq_to_p", "erf", "erf_inv", "erf_inv_p", "erf_p", "erfc", "erfc_p", "exp", "exp2",
    "exp2_p", "exp_p", "expm1", "expm1_p", "floor", "floor_p", "full", "full_like", "ge",
    "ge_p", "gt", "gt_p", "igamma", "igamma_grad_a", "igamma_grad_a_p", "igamma_p", "igammac",
    "igammac_p", "imag", "imag_p", "integer_pow", "integer_pow_p", "iota", "iota_p",
    "is_finite", "is_finite_p", "le", "le_p", "le_to_p", "lgamma", "lgamma_p", "log", "log1p",
    "log1p_p", "log_p", "logistic", "logistic_p", "lt", "lt_p", "lt_to_p", "max", "max_p",
    "min", "min_p", "mul", "mul_p", "mulhi", "mulhi_p", "ne", "ne_p", "neg", "neg_p",
    "nextafter", "nextafter_p", "not_p", "optimization_barrier", "optimization_barrier_p",
    "or_p", "polygamma", "polygamma_p", "population_count", "population_count_p", "pow",
    "pow_p", "random_gamma_grad", "random_gamma_grad_p", "real", "real_p", "reciprocal",
    "reduce_precision", "reduce_precision_p", "regularized_incomplete_beta_p", "rem", "rem_p",
    "rng_bit_generator", "rng_bit_generator_p", "rng_uniform", "rng_uniform_p", "round",
    "round_p", "rsqrt", "rsqrt_p", "select", "select_n", "select_n_p", "shift_left",
    "shift_left_p", "shift_right_arithmetic", "shift_right_arithmetic_p", "shift_right_logical",
    "shift_right_logical_p", "sign", "sign_p", "sin", "sin_p", "sinh", "sinh_p", "sqrt",
    "sqrt_p", "square", "square_p", "stop_gradient", "stop_gradient_p", "sub", "sub_p", "tan",
    "tan_p", "tanh", "tanh_p", "xor_p", "zeta", "zeta_p",
]
