"""Wrong inputs on which Dovetail and JAX differ, each decision with its reason."""

from __future__ import annotations

import re
from typing import NamedTuple

from .mutation import Wrong


class Decision(NamedTuple):
    """Inputs whose texts match are accepted here alone, or refused here alone, for a reason."""

    accepted: bool
    text: str
    reason: str
    said: str = ""  # and this matches the error of the library that refuses


DECISIONS = (
    Decision(True, r"\b(keepdims|copy|sparse|endpoint|retstep|deg|tiled|prevent_cse|has_aux|inline|"
             r"assume_unique|return_\w+|returned|unroll|compute_uv|hermitian|increasing|promote_integers|"
             r"full_matrices|allow_\w+|keep_unused|ordered|rowvar|bias|use_magma|right|is_stable|"
             r"indices_are_sorted|unique_indices|stable|descending|symmetrize_input|sort_eigenvalues|lower|"
             r"upper|pivoting|left_side|transpose_a|unit_diagonal|conjugate_a|aggregate_to_topk|"
             r"is_leaf_takes_path)=|cond\(m, ",
             "Flags are anything with a truth value, as in Python; JAX asks for what can be hashed "
             "where it makes them static, and for booleans where C++ takes them.",
             r"hash|incompatible function arguments|must be a bool|expected type bool|"
             r"is not of type bool|[Bb]oolean|Abstract tracer|truth value|weak reference"),
    Decision(True, r"2 \*\* 63|10 \*\* 30",
             "A Python integer that meets floats is a float, as in NumPy; JAX wants an int32.",
             "overflow was encountered while parsing an argument"),
    Decision(True, r"lax\.",
             "Python numbers adapt to the element type of the other operand.",
             r"requires arguments to have the same dtypes|does not accept dtype int32|"
             r"'(float|int|bool|complex)' object has no attribute '(shape|dtype)'"),
    Decision(True, r"(nonzero|argwhere|where)\(.*fill_value=", "Without size nothing is filled.",
             "statically specified|inhomogeneous|fill_value must be|requires ndarray or scalar|"
             "as an abstract array"),
    Decision(True, r"jnp\.copy\(", "Sequences are copied, as by NumPy.",
             "copy requires ndarray or scalar"),
    Decision(True, r"is_tree_node\(", "What is no class is no node.", "is_node"),
    Decision(True, r"dtypes\.promote_types", "JAX has it elsewhere.", "has no attribute"),
    Decision(True, r"(jacfwd|jacrev|hessian)\(.*argnums=", "Numbers are checked when arguments are "
             "there to be counted, as by grad.", "is not iterable|integer scalar arrays"),
    Decision(True, r"new_ref\(c\)", "Values are cast to the element type of a reference.",
             "Invalid dtype for `(swap|addupdate)`"),
    Decision(True, r"split\(", "Negative places count from the end, as in NumPy.",
             "Sizes passed to split must be nonnegative"),
    Decision(True, r"lax\.(dtype|full_like)\(.*key_type", "The type of keys is an element type.",
             "Cannot determine dtype of key"),
    Decision(True, r"2 \*\* 63|10 \*\* 30", "A Python integer that meets floats is a float.",
             "Python int \\d+ too large to convert to int32"),
    Decision(True, r"jnp\.histogram", "Nothing is counted, as in NumPy.",
             "zero-size array to reduction"),
    Decision(True, r"tree_differences|print_saved_residuals|empty_ref|dv\.custom\b|Budget|"
             r"rnd\.implementation|static_argnames=|checkpoint=|reshape\(.*copy=",
             "JAX has no such function or argument, or it does not work there."),
    Decision(True, r"dv\.linear_transpose\(g, ", "Operands may be trees of any values."),
    Decision(True, r"array_equiv|array_equal", "What is no array equals none, as in NumPy."),
    Decision(True, r"jnp\.delete\(v, (\[\]|np\.zeros\(\(0,\))", "Nothing is deleted, as in NumPy."),
    Decision(True, r"(custom_vmap|sequential_vmap)\(g\)\(-?10 \*\* 30", "A Python integer "
             "that meets floats is a float.", "too large to convert"),
    Decision(True, r"out_axes=", "What an axis is, types say: it is checked with the result."),
    Decision(True, r"patches\(.*preferred", "The patches are converted.", "incompatible"),
    Decision(True, r"optimize=", "Two operands are contracted in one way.", "is not iterable"),
    Decision(True, r"(bartlett|blackman|hamming|hanning|kaiser)\(-", "No points, as in NumPy.",
             "nonnegative"),
    Decision(True, r"(is|issub)dtype\(", "What has an element type stands for it.",
             "Cannot construct a dtype from an array"),
    Decision(True, r"poly(add|sub)\(", "No coefficients are the polynomial 0, as in NumPy.",
             "Incompatible types for broadcasting"),
    Decision(True, r"broadcast_(like|shapes)\(", "A shape is asked for, and nothing else."),
    Decision(True, r"padtype_to_pads\(", "Python's integers have no limit.", "numpy.float64"),
    Decision(True, r"new_ref\(v\)\.__setitem__\(None", "A value is broadcast to where it goes.",
             "Invalid shape for `swap`"),
    Decision(True, r"tree_map\(g, key", "Keys are trees of words.", "key<fry>"),
    Decision(True, r"array_str\(np\.", "NumPy's scalars are arrays without dimensions.",
             "__getitem__"),
    Decision(True, r"gradient\(.*axis=(\[\]|\(\))", "No axes, no derivatives, as in NumPy."),
    Decision(True, r"jnp\.put\(", "Places count in the flattened array, as in NumPy."),
    Decision(True, r"rnd\.permutation\(key, [(\[]", "Sequences are permuted, as by NumPy."),
    Decision(False, r"defvjp|defjvp|make_jaxpr\(", "What cannot be called is refused at once."),
    Decision(False, r"reduce_axes=", "It is a sequence, and an empty one."),
    Decision(False, r"device=|accuracy=|modes=|keep_unused=|strip_zeros=",
             "An argument of the wrong kind is refused, also if JAX would not look at it."),
    Decision(False, r"fft\(\(", "Sequences are converted first, as everywhere.",
             "requires an array"),
    Decision(False, r"dtype=|jnp\.(u?int\d*|float\d*_?|complex\d*_?|single|double|bfloat16)\(",
             "Element types are those of numbers, and values are numbers.",
             "must be an element type|no array of numbers|not a valid array value"),
    Decision(False, r"jnp\.(ndim|shape|size)\(", "What is no array has no shape."),
    Decision(False, r"polydiv\(", "Coefficients are vectors.", "must be vectors"),
    Decision(False, r"rnd\.(clone|weibull_min|randint)\(", "A key is a key, a bound a number, and "
             "parameters have no more dimensions than what is drawn.",
             "takes a key|do not broadcast|must be a number"),
    Decision(False, r"ref\.freeze\(z\)", "An array is no reference.", "takes a reference"),
    Decision(False, r"stack\(\{", "A set has no order.", "sequence of arrays"),
    Decision(False, r"unravel_index\(True", "Truth values are no places.", "takes integers"),
    Decision(False, r"__add__|__\w+__\(", "An operator says what it is not defined for; JAX "
             "returns NotImplemented, and Python raises.", "cannot be compared|Comparator raised"),
    Decision(False, r"\bkeys?\b", "Functions of arrays of numbers take no keys.",
             "requires an array|not a valid array value|cannot be converted to a NumPy array"),
    Decision(False, r"(custom_vmap|sequential_vmap|custom_jvp|custom_vjp|vectorize|checkpoint|"
             r"remat)\((?!g)", "What cannot be called is refused at once, not at the first call."),
    Decision(False, r"policy=|signature=|nondiff_argnums=|static_argn",
             "An argument of the wrong kind is refused where it is given, not where it is used."),
    Decision(False, r"config\.update|disable_jit|enable_x64|threefry_partitionable",
             "Options are checked: anything that is true would be stored otherwise."),
    Decision(False, r"weak_type=|inline=|tiled=",
             "What has no truth value is refused; JAX keeps it unseen."),
    Decision(False, r"jnp\.(bool|bool_)\(", "Strings and Ellipsis are no numbers; that NumPy asks "
             "for their truth is an accident."),
    Decision(False, r"longdouble", "Devices hold no such numbers, and narrowing would be silent."),
    Decision(False, r"\bv?m?t?i?b?c?\.__\w+__\(", "An operator says what it is not "
             "defined for; JAX returns NotImplemented, and Python raises.",
             "is not defined for an array and"),
    Decision(False, r"fill_value=", "A fill value is checked even where none is needed.",
             r"unique|position|float0|select_n|not a valid array value"),
    Decision(False, r"register_", "What is no class cannot have instances.",
             "a pytree node is a class|cannot be a pytree node"),
    Decision(False, r"axis_size=", "A size is checked where it is given, not at the first call."),
    Decision(False, r"dtype=-?\d", "A number is no element type.", "must be an element type"),
    Decision(False, r"\.at\.|new_ref", "Indices are integers that arrays can have.",
             r"does not fit into int32|an index is made of"),
    Decision(False, r"(bartlett|blackman|hamming|hanning|kaiser)\(", "A number of points is an "
             "integer; JAX cuts fractions off.", "M must be an integer"),
    Decision(False, r"new_ref\(.*kind=", "JAX keeps what is no kind of memory unseen.",
             "only None is supported|no text"),
    Decision(False, r"unravel_index\(b", "Truth values are no places.", "takes integers"),
    Decision(False, r"allow_int=", "What has no truth value is no flag.",
             "no truth value|used as a Python condition"),
    Decision(False, r"initial=", "An initial value is a number.", "not a valid array value"),
    Decision(False, r"float0", "Zeros without a value are no array of numbers.", "float0"),
    Decision(False, r"check_(grads|jvp|vjp)", "A tolerance is a number, or one for each dtype.",
             "takes a tolerance"),
)  # fmt: skip


def decided(wrong: Wrong, accepted: bool, said: str) -> bool:
    """Whether a difference has been decided."""
    return any(
        d.accepted == accepted and re.search(d.text, wrong.text) and re.search(d.said, said)
        for d in DECISIONS
    )
