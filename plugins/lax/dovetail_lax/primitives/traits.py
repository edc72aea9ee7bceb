"""Traits and parameters of the primitives on arrays; tables derive rules from the traits."""

from __future__ import annotations

from typing import Any

from dovetail_core import cached, is_inexact, primitives
from dovetail_surface.parameters import accept_parameters

from .elementwise import of_numbers

_FOR_ALL_OF = {
    "cbrt cos exp2 exp expm1 log1p log logistic rsqrt sin sqrt tan tanh": {"accuracy": None},
    "broadcast_in_dim convert_element_type iota": {"sharding": None},
    "conv_general_dilated dot_general reduce_sum rng_bit_generator": {"out_sharding": None},
}
FURTHER: dict[str, dict[str, Any]] = {
    **{name: dict(params) for names, params in _FOR_ALL_OF.items() for name in names.split()},
    "reshape": {"dimensions": None, "sharding": None},
    "mul": {"out_dtype": None},
    "scatter": {"update_jaxpr": None, "update_consts": ()},
    "qr": {"use_magma": None},
    "schur": {"sort_eig_vals": False, "select_callable": None},
    "svd": {"subset_by_index": None},
    "eig": {"implementation": None},
    "eigh": {"sort_eigenvalues": True, "subset_by_index": None, "algorithm": None},
}
"""Parameters of programs for JAX that primitives accept and drop, with their values."""


# What moves elements about is linear in its first operand, and rises with it.
MOVES = """
    copy stage reshape transpose rev broadcast_in_dim squeeze split unstack tile slice dynamic_slice
"""
MOVES_FROM_SEVERAL = """
    concatenate stack pad optimization_barrier gather scatter dynamic_update_slice select_n
    stop_gradient dce_sink
"""
# These take numbers alone; describe() lets their type rules refuse other elements.
OF_NUMBERS = """
    argmax argmin conv_general_dilated cummax cummin cumprod cumsum cumlogsumexp dot_general
    ragged_dot_general reduce_max reduce_min reduce_prod reduce_sum reduce_window_max
    reduce_window_min reduce_window_prod reduce_window_sum scatter-add scatter-max scatter-min
    scatter-mul scatter-sub select_and_gather_add select_and_scatter_add top_k
"""
LINEAR = f"{MOVES} neg real imag conj reduce_sum cumsum reduce_window_sum fft div"
LINEAR_JOINTLY = "concatenate stack optimization_barrier"
BILINEAR = "mul dot_general conv_general_dilated"
RISING = """
    add max min exp exp2 expm1 log log1p logistic sqrt cbrt tanh sinh asinh acosh atan asin atanh
    erf erf_inv floor ceil round sign clamp reduce_sum reduce_max reduce_min cumsum cummax cummin
    cumlogsumexp reduce_window_sum reduce_window_max reduce_window_min concatenate stack pad
    optimization_barrier
"""
ELEMENTWISE = """
    add sub mul div rem max min neg sign abs square sqrt rsqrt cbrt integer_pow pow nextafter mulhi
    exp exp2 expm1 log log1p logistic sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
    atan2 erf erfc erf_inv lgamma digamma bessel_i0e bessel_i1e igamma igammac igamma_grad_a
    random_gamma_grad regularized_incomplete_beta zeta polygamma eq ne lt le gt ge eq_to le_to lt_to
    and or xor not shift_left shift_right_logical shift_right_arithmetic population_count clz floor
    ceil is_finite round reduce_precision real imag conj complex select_n clamp convert_element_type
    copy stage stop_gradient logistic_slope tanh_slope asin_slope atan_slope asinh_slope acosh_slope
    atanh_slope erf_slope erf_inv_slope precise_erf_inv normal_density trigamma
    tetragamma scaled_bessel_slope positive_zeta positive_polygamma
"""
# Not sign, which of complex numbers has no steps; its derivative decides.
STEPS = """
    floor ceil round is_finite not population_count clz argmax argmin eq ne lt le gt ge eq_to
    le_to lt_to and or xor shift_left shift_right_logical shift_right_arithmetic
"""
SUPERLINEAR = """
    sort cumsum cumprod cummax cummin cumlogsumexp conv_general_dilated reduce_window
    reduce_window_sum reduce_window_prod reduce_window_max reduce_window_min
"""
COMMUTATIVE = "add mul max min eq ne and or xor mulhi"
# Not max and its like, of which zeros of two signs have either.
EXACT = """
    add sub mul div rem neg sign abs square sqrt floor ceil round is_finite eq ne lt le gt ge
    convert_element_type nextafter argmax argmin
"""
EXACT_OF_INTEGERS = """
    and or xor not shift_left shift_right_logical shift_right_arithmetic population_count clz mulhi
    max min clamp iota integer_pow reduce_max reduce_min reduce_and reduce_or reduce_xor reduce_sum
    reduce_prod cumsum cumprod cummax cummin eq_to le_to lt_to bitcast_convert_type
"""

PARAMETERS = {
    "aggregate_to_topk": "whether partial results are put together",
    "algorithm": "how it is computed",
    "alpha": "factor of the product",
    "attributes": "pairs of a name and a constant value",
    "axes": "axes that disappear",
    "axis": "the axis along which it works",
    "axis_sizes": "names of mapped axes and their lengths",
    "base_dilation": "elements between those of the operand, along each axis",
    "batch_group_count": "groups along the batch",
    "beta": "factor of what is added to the product",
    "body_jaxpr": "program of one iteration",
    "body_nconsts": "how many operands the body closes over",
    "branches": "programs, of which the first operand selects one",
    "broadcast_dimensions": "for each axis of the operand, that of the result",
    "compute_left_eigenvectors": "whether left eigenvectors are wanted",
    "compute_right_eigenvectors": "whether right eigenvectors are wanted",
    "compute_schur_vectors": "whether the unitary factor is wanted",
    "compute_uv": "whether singular vectors are wanted",
    "concat_axis": "the axis along which parts are joined",
    "cond_jaxpr": "program of the condition of the loop",
    "cond_nconsts": "how many operands the condition closes over",
    "conjugate_a": "whether the matrix is conjugated first",
    "dimension": "the axis along which it works",
    "dimension_numbers": "the meaning of the axes of the operands",
    "dimensions": "the axes concerned",
    "dtype": "element type of the result",
    "enable_eigvec_derivs": "whether eigenvectors have derivatives",
    "eps": "the change, as a power of it, at which iterations end",
    "exponent_bits": "bits of the exponent that are left",
    "feature_group_count": "groups along the features",
    "fft_lengths": "lengths of the transformed axes, which are the last ones",
    "fft_type": "which transform: FFT, IFFT, RFFT, IRFFT",
    "fill_value": "what is taken outside, where the mode fills; None for NaN or the like",
    "full_matrices": "whether factors are square",
    "index_dtype": "element type of the indices",
    "indices_are_sorted": "a promise that indices ascend",
    "is_max_k": "whether the largest are wanted, not the smallest",
    "is_stable": "whether equal elements keep their order",
    "jaxpr": "program of one iteration, or one that combines two values",
    "k": "how many elements",
    "left": "whether the reflections are multiplied from the left",
    "left_side": "whether the matrix is multiplied from the left",
    "length": "how many iterations",
    "lhs_dilation": "steps between elements of the operand, along each axis",
    "limit_indices": "where each axis ends",
    "lower": "whether the lower triangle is read",
    "mantissa_bits": "bits of the mantissa that are left",
    "max_iterations": "after how many iterations it ends at the latest",
    "mode": "what happens where an index is outside",
    "new_dtype": "element type of the result",
    "new_sizes": "shape of the result",
    "num_carry": "how many operands are loop variables",
    "num_consts": "how many operands are the same in every iteration",
    "num_keys": "how many operands are compared; the others are moved along",
    "out_dtype": "element type to which operands are converted first, or None",
    "padding": "how many elements are added before and after each axis",
    "padding_config": "for each axis: elements added before, after, between",
    "perm": "pairs (source, destination) of indices",
    "permutation": "for each axis of the result, that of the operand",
    "permutation_size": "length of the permutation",
    "perturb_singular": "whether pivots that are almost zero are changed",
    "pivoting": "whether columns are exchanged",
    "precision": "how exactly products are computed",
    "preferred_element_type": "element type of the result, or None for the operands'",
    "platforms": "for which platforms each branch is; None for all others",
    "prevent_mlir_dce": "whether the compiler is given it, too",
    "program": "program of what it computes",
    "recall_target": "the share of right ones that is wanted",
    "reduction_dimension": "the axis along which it works",
    "reduction_input_size_override": "the size for which recall is computed, or -1",
    "reps": "how often, along each axis",
    "reverse": "whether it goes from the end to the beginning",
    "rhs_dilation": "steps between elements of the window, along each axis",
    "rounding_method": "where halves go",
    "select_prim": "the comparison that selects",
    "shape": "shape of the result",
    "sizes": "lengths of the parts",
    "slice_sizes": "shape of the part that is taken",
    "split_axis": "the axis that is cut",
    "start_indices": "where each axis begins",
    "strides": "steps along each axis, or None",
    "transpose": "whether the adjoint of the reflections is taken",
    "transpose_a": "whether the matrix is transposed first",
    "unique_indices": "a promise that no index occurs twice",
    "unit_diagonal": "whether the diagonal counts as ones",
    "unroll": "how many iterations are written out in one",
    "update": "program that makes the new value",
    "weak_type": "whether the result is weakly typed",
    "window_dilation": "steps between elements of the window, along each axis",
    "window_dimensions": "shape of the window",
    "window_strides": "steps of the window along each axis",
    "y": "the exponent",
}


def _gather(params: dict[str, Any]) -> tuple[Any, ...]:
    fills = params["mode"].name == "FILL_OR_DROP" and params["fill_value"] != 0
    return () if fills else ((0,),)


def _conversion(params: dict[str, Any]) -> tuple[Any, ...]:
    return ((0,),) if is_inexact(params["new_dtype"]) else ()


@cached
def _traits_by_name() -> dict[str, dict[str, Any]]:
    """The traits of the primitives of all families, by name."""
    traits_of: dict[str, dict[str, Any]] = {}

    def declare(names: str, **traits: Any) -> None:
        for name in names.split():
            traits_of.setdefault(name, {}).update(traits)

    declare(f"{MOVES} {MOVES_FROM_SEVERAL}", moves=True)
    declare(LINEAR, linear=((0,),))
    declare(LINEAR_JOINTLY, linear=(slice(None),))
    declare(BILINEAR, linear=((0,), (1,)))
    declare("add sub complex pad dynamic_update_slice", linear=((0, 1),))
    declare("scatter scatter-add scatter-sub", linear=((0, 2),))
    declare("scatter-mul select_and_gather_add select_and_scatter_add", linear=((0,),))
    for name, operand in {"triangular_solve": 1, "tridiagonal_solve": 3, "ormqr": 2}.items():
        declare(name, linear=((operand,),))
    declare("gather", linear=_gather)
    declare("convert_element_type", linear=_conversion)
    declare("select_n taken", linear=(slice(1, None),))

    declare(STEPS, constant=(0, 1))
    declare("select_n taken", constant=(0,))

    declare(RISING, monotone="+")
    declare(MOVES, monotone="+.")
    declare("sub", monotone="+-")
    declare("neg acos erfc rsqrt", monotone="-")
    declare("select_n", monotone=".+")
    declare("dynamic_update_slice", monotone="++.")
    declare("gather", monotone="+.")
    declare("scatter scatter-add", monotone="+.+")

    declare(ELEMENTWISE, elementwise=True)
    declare(COMMUTATIVE, commutative=True)
    declare(SUPERLINEAR, superlinear=True)
    declare(EXACT, exact="numbers")
    declare(EXACT_OF_INTEGERS, exact="integers")
    return traits_of


def describe(module: str) -> None:
    """Give the primitives that a module of this package has defined their traits, let the type
    rules of operations on numbers refuse elements of other kinds, and let the primitives take the
    parameters that programs for JAX give them. Each module of primitives ends with it."""
    traits_of, of_all = _traits_by_name(), set(OF_NUMBERS.split())
    for name, primitive in primitives().items():
        if primitive.module == module:
            primitive.def_traits(**traits_of.get(name, {}), parameters=PARAMETERS)
            if name in of_all:
                of_numbers(primitive)
            if name in FURTHER:
                accept_parameters(primitive, **FURTHER[name])
