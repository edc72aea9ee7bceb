"""Wrong arguments of public functions once ended in errors of our own code; now they are told."""

import numpy as np
import pytest

import dovetail as dv
import dovetail.numpy as jnp
from dovetail import lax, nn, tree, tree_util

v, m = np.ones(3, np.float32), np.eye(3, dtype=np.float32)
image, kernel = np.ones((1, 1, 4, 4), np.float32), np.ones((1, 1, 2, 2), np.float32)
names = ("NCHW", "OIHW", "NCHW")
normal = nn.initializers.glorot_normal
recursive = []
recursive.append(recursive)
ERRORS = (TypeError, ValueError, ArithmeticError, LookupError, RuntimeError)

CASES = [
    (lambda: jnp.cov(None), "cov"),
    (lambda: jnp.concatenate({"a": v}), "concatenate"),
    (lambda: jnp.vecdot(v, v, axis=-(10**30)), "axis"),
    (lambda: jnp.linalg.cross(v, v.sum()), "cross: axis"),
    (lambda: jnp.polydiv(m, 1.0), "polydiv: u and v"),
    (lambda: jnp.trim_zeros(v, trim=...), "trim must be a string"),
    (lambda: jnp.vectorize(np.sin, signature=3), "signature must be a string"),
    (lambda: jnp.array(recursive), "a pytree is nested more deeply"),
    (lambda: jnp.sin(recursive), "a pytree is nested more deeply"),
    (lambda: jnp.zeros(3, device=recursive), "device must be a device"),
    (lambda: lax.conv(image, kernel, ("a", "b"), "SAME"), "window_strides must be an integer"),
    (lambda: lax.conv(image, kernel, (1, 1), {"a": v}), "padding must be"),
    (lambda: lax.conv_general_dilated_patches(image, (None,), (1, 1), "VALID"), "filter_shape"),
    (lambda: lax.conv_shape_tuple((), (1, 1, 2, 2), (1, 1), ((0, 0),)), "lhs_shape"),
    (lambda: lax.conv_general_permutations({1: v}), "dimension_numbers"),
    (lambda: lax.padtype_to_pads((4, 4), (2, 2), (0, 0), "SAME"), "must be positive"),
    (lambda: lax.reduce_window(v, 0.0, lax.add, (2,), "S3", "VALID"), "window_strides"),
    (lambda: lax.fft(v, "FFT", (None,)), "fft_lengths"),
    (lambda: normal(in_axis=-(10**30))(dv.random.key(0), (3, 2)), "in_axis"),
    (lambda: tree.unflatten((1, 2), [1, 2]), "treedef must be the structure"),
    (lambda: tree.flatten(recursive), "a pytree is nested more deeply"),
    (lambda: tree.flatten(recursive, is_leaf=lambda x: False), "a pytree is nested more deeply"),
    (lambda: tree.map(3, [1]), "f must be a function"),
    (lambda: tree.leaves([1], is_leaf=3), "is_leaf must be a function"),
    (lambda: tree_util.treedef_is_leaf(0), "treedef must be the structure"),
    (lambda: tree_util.treedef_children(v), "treedef must be the structure"),
    (lambda: tree_util.register_pytree_node_class([]), "a pytree node is a class"),
    (lambda: tree_util.keystr((), separator=[]), "keystr takes"),
    (lambda: dv.config.update(None, 1), "the name of an option is a string"),
    (lambda: dv.config.update("enable_x64", "no such"), "option 'enable_x64'"),
    (lambda: tree_util.register_static(int), "int cannot be a pytree node"),
    (lambda: tree_util.treedef_tuple((1,)), "treedef_tuple takes"),
    (lambda: tree.all(v), "tree_all cannot take these arguments"),
    (lambda: jnp.linalg.vector_norm(v, ord=np.sin), "is no order of a vector norm"),
    (lambda: jnp.pad(v, {"a": v}), "pad"),
    (lambda: jnp.polyder(1.5), "polyder: p must have"),
    (lambda: jnp.concatenate(np.zeros(0, np.float32)), "concatenate"),
    (lambda: jnp.uint8(float("inf")), "the Python float inf does not fit"),
    (lambda: jnp.asarray(v).item(-5), "item of an array"),
    (lambda: jnp.sum(m, axis=0, keepdims=v), "keepdims must be True or False"),
    (lambda: jnp.mask_indices(3, v), "mask_indices cannot take these arguments"),
    (lambda: jnp.triu_indices(b"x"), "triu_indices cannot take these arguments"),
    (lambda: jnp.finfo("nonsense"), "finfo cannot take these arguments"),
    (lambda: jnp.issubdtype((1.5,), "float32"), "issubdtype takes dtypes"),
    (lambda: jnp.take(v, 0, mode=v), "mode must be hashable"),
    (lambda: jnp.fft.fft(v, norm=v), "fft: norm must be"),
    (lambda: lax.round(v, rounding_method="up"), "is not a valid RoundingMethod"),
    (lambda: lax.pad(v, 0.0, ...), "padding_config must be a sequence"),
    (lambda: dv.eval_shape([v], v), "eval_shape cannot take these arguments"),
    (lambda: dv.jit(len, backend=[v]), "backend must be hashable"),
    (lambda: dv.jit(len, compiler_options=3), "compiler_options must be a mapping"),
    (lambda: dv.ref.empty_ref(np.dtype("int8")), "empty_ref takes a type with shape and dtype"),
    (lambda: dv.ref.run_state(True), "f must be a function"),
    (lambda: jnp.float32((None,)), "None is no number"),
    (lambda: jnp.trace(m, dtype=dv.random.key(0).dtype), "dtype must be one of numbers"),
    (lambda: jnp.vecdot(v, v, precision=v), "vecdot cannot take these arguments"),
    (lambda: jnp.searchsorted(v, v, sorter=0), "sorter must have one axis"),
    (lambda: dv.debug.print(v, skip_format_check=True), "fmt must be a string"),
    (lambda: jnp.zeros(b"x"), "a shape is an integer or a sequence of integers"),
    (lambda: jnp.full({}, 1.0), "a shape is an integer or a sequence of integers"),
    (lambda: jnp.reshape(v, 3, out_sharding=1), "got 1 of type int in reshape at"),
    (lambda: jnp.ravel(v, out_sharding=1), "got 1 of type int in ravel at"),
    (lambda: jnp.tensordot(v, v, 1, out_sharding=1), "got 1 of type int in tensordot at"),
    (lambda: jnp.matmul(v, v, out_sharding=1), "got 1 of type int in matmul at"),
    (lambda: jnp.einsum("i,i", v, v, out_sharding=1), "got 1 of type int in einsum at"),
    (lambda: jnp.repeat(v, 2, out_sharding=1), "got 1 of type int in repeat at"),
    (lambda: jnp.broadcast_to(v, 3, out_sharding=1), "got 1 of type int in broadcast_to at"),
    (lambda: lax.broadcasted_iota(None, (2,), 0), "dtype must be specified"),
    (lambda: lax.padtype_to_pads((4, 4), (2, 2), (), "SAME"), "one of each for each dimension"),
    (lambda: lax.cond(True, jnp.sin, jnp.cos, v, operand=v), "not both"),
    (lambda: jnp.vectorize(np.sin, excluded=v), "excluded must be of integers and names"),
    (lambda: jnp.iscomplexobj(np.sin), "is no array and no number"),
    (lambda: dv.vjp(np.sin, v, reduce_axes=("i",)), "reduce_axes must be empty"),
    (lambda: dv.linear_transpose(np.sin, v, reduce_axes=("i",)), "reduce_axes must be empty"),
    (lambda: dv.dtypes.itemsize_bits({}), "have no size"),
    (lambda: dv.dtypes.itemsize_bits(None), "have no size"),
    (lambda: jnp.zeros(3, dtype=v), "or the .dtype of an array"),
    (lambda: dv.make_jaxpr(3), "fun must be a function"),
    (lambda: dv.ShapeDtypeStruct((2,), "float32", sharding=3), "sharding must be a device or a"),
    (lambda: dv.pure_callback(len, v, v, sharding=3), "sharding must be a device or a sharding"),
    (lambda: dv.experimental.io_callback(len, v, v, sharding=3), "sharding must be a device or a"),
    (lambda: lax.full((2,), 1.0, sharding=3), "got 3 of type int in full at"),
    (lambda: lax.full_like(v, 1.0, sharding=3), "got 3 of type int in full_like at"),
    (lambda: jnp.histogram(v, range=m), "range must be a pair of numbers"),
    (lambda: jnp.vectorize(np.sin, excluded=(-1,)), "excluded arguments count from 0"),
    (lambda: jnp.isrealobj(("a", "b")), "is no array and no number"),
    (lambda: jnp.array_str({"a": v}), "array_str requires an array"),
    (lambda: nn.softmax(v, where=v), "softmax: where must be an array of booleans"),
    (lambda: nn.log_softmax(v, where=v), "log_softmax: where must be an array of booleans"),
    (lambda: nn.logsumexp(v, where=v), "logsumexp: where must be an array of booleans"),
    (lambda: nn.logmeanexp(v, where=v), "logsumexp: where must be an array of booleans"),
    (
        lambda: lax.conv_general_dilated(image, kernel, (1, 1), "SAME", preferred_element_type=int),
        "would cut fractions off",
    ),
]


@pytest.mark.parametrize("call, said", CASES)
def test_what_is_said_of_wrong_arguments(call, said):
    with pytest.raises(ERRORS) as e:
        call()
    assert said in str(e.value)
    assert "test_bad_arguments.py:" in str(e.value)


def test_shapes_without_elements_have_no_fan():
    assert normal()(dv.random.key(0), (0, 2)).shape == (0, 2)
