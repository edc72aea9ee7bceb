"""Operations on arrays: the public names of ``jax.lax``, their primitives and their rules."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import linalg as linalg
    from .functions.arithmetic import (
        AccuracyMode as AccuracyMode,
        Tolerance as Tolerance,
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
    from .functions.broadcasting import (
        broadcast as broadcast,
        broadcast_in_dim as broadcast_in_dim,
        broadcast_like as broadcast_like,
        broadcast_shapes as broadcast_shapes,
        broadcast_to_rank as broadcast_to_rank,
        expand_dims as expand_dims,
    )
    from .functions.collectives import (
        axis_index as axis_index,
        axis_size as axis_size,
        pbroadcast as pbroadcast,
        pcast as pcast,
        pmax as pmax,
        pmean as pmean,
        pmin as pmin,
        psum as psum,
        pvary as pvary,
    )
    from .functions.composite import composite as composite
    from .functions.contractions import (
        batch_matmul as batch_matmul,
        dot as dot,
        dot_general as dot_general,
        ragged_dot as ragged_dot,
        ragged_dot_general as ragged_dot_general,
        scaled_dot as scaled_dot,
    )
    from .functions.control_flow import (
        cond as cond,
        fori_loop as fori_loop,
        map as map,
        platform_dependent as platform_dependent,
        scan as scan,
        switch as switch,
        while_loop as while_loop,
    )
    from .functions.conv import (
        conv as conv,
        conv_general_dilated as conv_general_dilated,
        conv_general_dilated_local as conv_general_dilated_local,
        conv_general_dilated_patches as conv_general_dilated_patches,
        conv_transpose as conv_transpose,
        conv_with_general_padding as conv_with_general_padding,
    )
    from .functions.conv_numbers import (
        ConvGeneralDilatedDimensionNumbers as ConvGeneralDilatedDimensionNumbers,
        conv_dimension_numbers as conv_dimension_numbers,
        conv_general_permutations as conv_general_permutations,
        conv_general_shape_tuple as conv_general_shape_tuple,
        conv_shape_tuple as conv_shape_tuple,
        conv_transpose_shape_tuple as conv_transpose_shape_tuple,
        padtype_to_pads as padtype_to_pads,
    )
    from .functions.creation import (
        broadcasted_iota as broadcasted_iota,
        empty as empty,
        full as full,
        full_like as full_like,
        iota as iota,
        shape_as_value as shape_as_value,
    )
    from .functions.cumulative import (
        associative_scan as associative_scan,
        cumlogsumexp as cumlogsumexp,
        cummax as cummax,
        cummin as cummin,
        cumprod as cumprod,
        cumsum as cumsum,
    )
    from .functions.discrete import (
        bitwise_and as bitwise_and,
        bitwise_not as bitwise_not,
        bitwise_or as bitwise_or,
        bitwise_xor as bitwise_xor,
        ceil as ceil,
        clz as clz,
        eq as eq,
        floor as floor,
        ge as ge,
        gt as gt,
        is_finite as is_finite,
        le as le,
        lt as lt,
        ne as ne,
        population_count as population_count,
        reduce_precision as reduce_precision,
        round as round,
        shift_left as shift_left,
        shift_right_arithmetic as shift_right_arithmetic,
        shift_right_logical as shift_right_logical,
    )
    from .functions.exchanges import (
        all_gather as all_gather,
        all_to_all as all_to_all,
        ppermute as ppermute,
        pshuffle as pshuffle,
        psum_scatter as psum_scatter,
        pswapaxes as pswapaxes,
        ragged_all_to_all as ragged_all_to_all,
    )
    from .functions.fft import fft as fft
    from .functions.gather import (
        gather as gather,
        index_take as index_take,
        scatter as scatter,
        scatter_add as scatter_add,
        scatter_apply as scatter_apply,
        scatter_max as scatter_max,
        scatter_min as scatter_min,
        scatter_mul as scatter_mul,
        scatter_sub as scatter_sub,
    )
    from .functions.precision import PrecisionLike as PrecisionLike
    from .functions.reductions import (
        argmax as argmax,
        argmin as argmin,
        reduce as reduce,
        reduce_and as reduce_and,
        reduce_max as reduce_max,
        reduce_min as reduce_min,
        reduce_or as reduce_or,
        reduce_prod as reduce_prod,
        reduce_sum as reduce_sum,
        reduce_xor as reduce_xor,
    )
    from .functions.rng import rng_bit_generator as rng_bit_generator, rng_uniform as rng_uniform
    from .functions.shape import (
        collapse as collapse,
        concatenate as concatenate,
        pad as pad,
        reshape as reshape,
        rev as rev,
        split as split,
        squeeze as squeeze,
        stack as stack,
        tile as tile,
        transpose as transpose,
        unstack as unstack,
    )
    from .functions.slicing import (
        dynamic_index_in_dim as dynamic_index_in_dim,
        dynamic_slice as dynamic_slice,
        dynamic_slice_in_dim as dynamic_slice_in_dim,
        dynamic_update_index_in_dim as dynamic_update_index_in_dim,
        dynamic_update_slice as dynamic_update_slice,
        dynamic_update_slice_in_dim as dynamic_update_slice_in_dim,
        index_in_dim as index_in_dim,
        slice as slice,
        slice_in_dim as slice_in_dim,
    )
    from .functions.sorting import (
        approx_max_k as approx_max_k,
        approx_min_k as approx_min_k,
        sort as sort,
        sort_key_val as sort_key_val,
        top_k as top_k,
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
    from .functions.transcendental import (
        acos as acos,
        acosh as acosh,
        asin as asin,
        asinh as asinh,
        atan as atan,
        atan2 as atan2,
        atanh as atanh,
        cos as cos,
        cosh as cosh,
        exp as exp,
        exp2 as exp2,
        expm1 as expm1,
        log as log,
        log1p as log1p,
        logistic as logistic,
        sin as sin,
        sinh as sinh,
        tan as tan,
        tanh as tanh,
    )
    from .functions.values import (
        bitcast_convert_type as bitcast_convert_type,
        clamp as clamp,
        complex as complex,
        conj as conj,
        convert_element_type as convert_element_type,
        dce_sink as dce_sink,
        dtype as dtype,
        imag as imag,
        optimization_barrier as optimization_barrier,
        real as real,
        select as select,
        select_n as select_n,
        stage as stage,
        stop_gradient as stop_gradient,
    )
    from .functions.windows import (
        reduce_window as reduce_window,
        reduce_window_shape_tuple as reduce_window_shape_tuple,
    )
    from .numerics.scaling import (
        inverse_power as inverse_power,
        scaled_matrices as scaled_matrices,
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
    from .primitives.collectives import (
        all_gather_p as all_gather_p,
        all_gather_reduced_p as all_gather_reduced_p,
        all_to_all_p as all_to_all_p,
        axis_index_p as axis_index_p,
        pcast_p as pcast_p,
        pmax_p as pmax_p,
        pmin_p as pmin_p,
        ppermute_p as ppermute_p,
        psum_invariant_p as psum_invariant_p,
        psum_p as psum_p,
        pvary_p as pvary_p,
        reduce_scatter_p as reduce_scatter_p,
    )
    from .primitives.contractions import (
        ConvDimensionNumbers as ConvDimensionNumbers,
        DotAlgorithm as DotAlgorithm,
        DotAlgorithmPreset as DotAlgorithmPreset,
        DotDimensionNumbers as DotDimensionNumbers,
        Precision as Precision,
        conv_general_dilated_p as conv_general_dilated_p,
        dot_general_p as dot_general_p,
    )
    from .primitives.control_flow import cond_p as cond_p, scan_p as scan_p, while_p as while_p
    from .primitives.discrete import (
        RoundingMethod as RoundingMethod,
        and_p as and_p,
        ceil_p as ceil_p,
        clz_p as clz_p,
        eq_p as eq_p,
        eq_to_p as eq_to_p,
        floor_p as floor_p,
        ge_p as ge_p,
        gt_p as gt_p,
        is_finite_p as is_finite_p,
        le_p as le_p,
        le_to_p as le_to_p,
        lt_p as lt_p,
        lt_to_p as lt_to_p,
        ne_p as ne_p,
        not_p as not_p,
        or_p as or_p,
        population_count_p as population_count_p,
        reduce_precision_p as reduce_precision_p,
        round_p as round_p,
        shift_left_p as shift_left_p,
        shift_right_arithmetic_p as shift_right_arithmetic_p,
        shift_right_logical_p as shift_right_logical_p,
        xor_p as xor_p,
    )
    from .primitives.fft import FftType as FftType, fft_p as fft_p
    from .primitives.gather import (
        ScatterDimensionNumbers as ScatterDimensionNumbers,
        gather_p as gather_p,
        scatter_add_p as scatter_add_p,
        scatter_apply_p as scatter_apply_p,
        scatter_max_p as scatter_max_p,
        scatter_min_p as scatter_min_p,
        scatter_mul_p as scatter_mul_p,
        scatter_p as scatter_p,
        scatter_sub_p as scatter_sub_p,
    )
    from .primitives.indexing import (
        GatherDimensionNumbers as GatherDimensionNumbers,
        GatherScatterMode as GatherScatterMode,
    )
    from .primitives.numerical import (
        igamma_grad_a_p as igamma_grad_a_p,
        igamma_p as igamma_p,
        igammac_p as igammac_p,
        polygamma_p as polygamma_p,
        random_gamma_grad_p as random_gamma_grad_p,
        regularized_incomplete_beta_p as regularized_incomplete_beta_p,
        zeta_p as zeta_p,
    )
    from .primitives.ragged import RaggedDotDimensionNumbers as RaggedDotDimensionNumbers
    from .primitives.ragged_collectives import ragged_all_to_all_p as ragged_all_to_all_p
    from .primitives.reductions import (
        argmax_p as argmax_p,
        argmin_p as argmin_p,
        cumlogsumexp_p as cumlogsumexp_p,
        cummax_p as cummax_p,
        cummin_p as cummin_p,
        cumprod_p as cumprod_p,
        cumsum_p as cumsum_p,
        reduce_and_p as reduce_and_p,
        reduce_max_p as reduce_max_p,
        reduce_min_p as reduce_min_p,
        reduce_or_p as reduce_or_p,
        reduce_p as reduce_p,
        reduce_prod_p as reduce_prod_p,
        reduce_sum_p as reduce_sum_p,
        reduce_xor_p as reduce_xor_p,
    )
    from .primitives.rng import (
        RandomAlgorithm as RandomAlgorithm,
        rng_bit_generator_p as rng_bit_generator_p,
        rng_uniform_p as rng_uniform_p,
    )
    from .primitives.shape import (
        broadcast_in_dim_p as broadcast_in_dim_p,
        concatenate_p as concatenate_p,
        dynamic_slice_p as dynamic_slice_p,
        dynamic_update_slice_p as dynamic_update_slice_p,
        pad_p as pad_p,
        reshape_p as reshape_p,
        rev_p as rev_p,
        slice_p as slice_p,
        split_p as split_p,
        squeeze_p as squeeze_p,
        stack_p as stack_p,
        tile_p as tile_p,
        transpose_p as transpose_p,
        unstack_p as unstack_p,
    )
    from .primitives.slopes import (
        acosh_slope_p as acosh_slope_p,
        asin_slope_p as asin_slope_p,
        asinh_slope_p as asinh_slope_p,
        atan_slope_p as atan_slope_p,
        atanh_slope_p as atanh_slope_p,
        erf_inv_slope_p as erf_inv_slope_p,
        erf_slope_p as erf_slope_p,
        logistic_slope_p as logistic_slope_p,
        normal_density_p as normal_density_p,
        precise_erf_inv_p as precise_erf_inv_p,
        scaled_bessel_slope_p as scaled_bessel_slope_p,
        tanh_slope_p as tanh_slope_p,
    )
    from .primitives.sorting import (
        approx_top_k_p as approx_top_k_p,
        sort_p as sort_p,
        top_k_p as top_k_p,
    )
    from .primitives.special import (
        bessel_i0e_p as bessel_i0e_p,
        bessel_i1e_p as bessel_i1e_p,
        digamma_p as digamma_p,
        erf_inv_p as erf_inv_p,
        erf_p as erf_p,
        erfc_p as erfc_p,
        lgamma_p as lgamma_p,
    )
    from .primitives.transcendental import (
        acos_p as acos_p,
        acosh_p as acosh_p,
        asin_p as asin_p,
        asinh_p as asinh_p,
        atan2_p as atan2_p,
        atan_p as atan_p,
        atanh_p as atanh_p,
        cos_p as cos_p,
        cosh_p as cosh_p,
        exp2_p as exp2_p,
        exp_p as exp_p,
        expm1_p as expm1_p,
        log1p_p as log1p_p,
        log_p as log_p,
        logistic_p as logistic_p,
        sin_p as sin_p,
        sinh_p as sinh_p,
        tan_p as tan_p,
        tanh_p as tanh_p,
    )
    from .primitives.values import (
        bitcast_convert_type_p as bitcast_convert_type_p,
        clamp_p as clamp_p,
        complex_p as complex_p,
        conj_p as conj_p,
        convert_element_type_p as convert_element_type_p,
        copy_p as copy_p,
        dce_sink_p as dce_sink_p,
        imag_p as imag_p,
        iota_p as iota_p,
        optimization_barrier_p as optimization_barrier_p,
        real_p as real_p,
        select_n_p as select_n_p,
        stage_p as stage_p,
        stop_gradient_p as stop_gradient_p,
    )
    from .primitives.windows import (
        reduce_window_max_p as reduce_window_max_p,
        reduce_window_min_p as reduce_window_min_p,
        reduce_window_p as reduce_window_p,
        reduce_window_prod_p as reduce_window_prod_p,
        reduce_window_sum_p as reduce_window_sum_p,
        select_and_gather_add_p as select_and_gather_add_p,
        select_and_scatter_add_p as select_and_scatter_add_p,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)

__programs__ = ["dynamic_index_in_dim", "dynamic_update_index_in_dim", "fft"]
