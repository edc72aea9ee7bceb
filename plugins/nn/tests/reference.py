"""Makes the reference values of the nn tests, from any library with this interface.

    python plugins/nn/tests/reference.py jax plugins/nn/tests/reference.json

A case is an expression in the functions of ``<library>.nn``, in its ``numpy``, ``grad``, ``vmap``
and ``key``. What is kept is the dtype, whether that is weak, and the values.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

ELEMENTWISE = (
    "celu elu gelu hard_sigmoid hard_silu hard_tanh leaky_relu log1mexp log_sigmoid mish relu "
    "relu6 selu soft_sign softplus sparse_plus sparse_sigmoid squareplus tanh"
).split()
FLOATS_ONLY = ["sigmoid", "silu"]
KINKS = "array([-numpy.inf,-3.,-1.,-0.5,-0.,0.,0.5,1.,3.,6.,numpy.inf,numpy.nan])"
MATRIX = "array([[1.,2.,3.],[-1.,0.,5.]])"
WEIGHTS = "array([1.,2.,3.,4.,5.,6.]).reshape(2,3)[:,:1]"
MASK = "array([[True,False,True],[False,False,True]])"


def cases() -> Iterator[str]:
    """All expressions."""
    for f in ELEMENTWISE + FLOATS_ONLY:
        yield f"{f}({KINKS})"
        yield f"{f}(array([-2.,0.3,4.],'bfloat16'))"
        yield f"{f}(0.5)"
        yield f"vmap(grad({f}))({KINKS})"
    for f in ELEMENTWISE:
        yield f"{f}(array([-2,0,3]))"
    for f in "gelu softplus log_sigmoid relu squareplus tanh hard_tanh".split():
        yield f"vmap(grad(grad({f})))(array([-1.,-0.3,0.7,2.]))"
    yield "vmap(grad(grad(softplus)))(array([-3.,0.,3.]))"
    yield "gelu(array([-2.,0.3,4.]),approximate=False)"
    yield "elu(array([-2.,0.3]),alpha=0.3)"
    yield "celu(array([-2.,0.3]),alpha=0.3)"
    yield "leaky_relu(array([-2.,0.3]),negative_slope=0.3)"
    yield "squareplus(array([-2.,0.3]),b=1)"
    yield f"glu({MATRIX},axis=0)"
    yield "identity(array([True]))"
    yield from softmaxes()
    yield from attention()
    yield from initial_values()


def softmaxes() -> Iterator[str]:
    """The softmax family, means and variances, one-hot vectors."""
    for f in ("softmax", "log_softmax", "logsumexp", "logmeanexp", "standardize"):
        for axis in ("0", "-1", "None", "(0,1)"):
            yield f"{f}({MATRIX},axis={axis})"
        yield f"{f}({MATRIX},axis=1,where={MASK})"
        yield f"{f}(array([1,2,5]))"
        yield f"{f}(array([1.,2.,5.],'bfloat16'))"
        yield f"grad(lambda x: ({f}(x,axis=1)*{WEIGHTS}).sum())({MATRIX})"
        yield f"grad(lambda x: {f}(x,axis=1,where={MASK})[0].sum())({MATRIX})"
    for f in ("softmax", "log_softmax", "logsumexp"):
        yield f"{f}(array([-numpy.inf,1.,2.]))"
        yield f"{f}(array([1000.,1001.]))"
    yield "softmax(numpy.zeros((2,0)))"
    yield "logsumexp(numpy.zeros((2,0)),axis=1)"
    yield "logsumexp(array([-numpy.inf,-numpy.inf]))"
    yield "logsumexp(array([numpy.inf,1.]))"
    yield "logsumexp(2.0)"
    yield f"logsumexp({MATRIX},axis=1,keepdims=True)"
    for b in ("array([1.,-1.,2.])", "array([1.,-1.,-2.])", "array([0.,0.,0.])", "2"):
        yield f"numpy.stack(logsumexp({MATRIX},axis=1,b={b},return_sign=True))"
        yield f"logsumexp({MATRIX},axis=1,b={b},keepdims=True)"
    yield f"grad(lambda b: logsumexp({MATRIX},axis=1,b=b).sum())(array([1.,-1.,2.]))"
    yield f"standardize({MATRIX},axis=0,mean=1.0)"
    yield f"standardize({MATRIX},variance=2.0)"
    yield f"standardize({MATRIX},algorithm='stable')"
    yield "one_hot(array([0,2,5,-1]),3)"
    yield "one_hot(array([0,2]),3,axis=0,dtype=bool)"
    yield "one_hot(1,3,dtype='int8')"
    yield "one_hot(array([[0],[2]]),3,axis=1)"


def attention() -> Iterator[str]:
    """Attention with heads in groups and all kinds of masks."""
    q = "(numpy.arange(48.).reshape(2,3,4,2)%7/7)"
    k = "(numpy.arange(40.).reshape(2,5,2,2)%5/5)"
    v = "(numpy.arange(40.).reshape(2,5,2,2)%11)"
    for rest in (
        "", ",is_causal=True", ",scale=2.0", ",local_window_size=1", ",local_window_size=(1,0)",
        ",bias=numpy.arange(15.).reshape(3,5)/9", ",mask=numpy.arange(15).reshape(3,5)%4!=0",
        ",query_seq_lengths=array([2,3])", ",key_value_seq_lengths=array([2,5])",
        ",query_seq_lengths=array([2,3]),key_value_seq_lengths=array([4,1]),is_causal=True",
    ):  # fmt: skip
        yield f"dot_product_attention({q},{k},{v}{rest})"
    yield f"dot_product_attention({q},{k},{v},return_residual=True)[1]"
    yield f"dot_product_attention({q}[0],{k}[0],{v}[0])"
    yield f"dot_product_attention(*(x.astype('bfloat16') for x in ({q},{k},{v})))"
    yield f"grad(lambda q: dot_product_attention(q,{k},{v})[0,1].sum())({q})"


def initial_values() -> Iterator[str]:
    """Initializers."""
    yield "initializers.zeros(key(3),(2,))"
    yield "initializers.ones(key(3),(2,),'int32')"
    yield "initializers.constant(3)(key(3),(2,))"
    yield "initializers.constant(numpy.arange(3))(key(3),(2,3))"
    for f in ("uniform()", "normal(0.5)", "truncated_normal(2.0,lower=-1.,upper=3.)"):
        yield f"initializers.{f}(key(3),(5,))"
    for d in ("normal", "uniform", "truncated_normal"):
        for mode in ("fan_in", "fan_out", "fan_avg", "fan_geo_avg"):
            yield f"initializers.variance_scaling(2.,'{mode}','{d}')(key(3),(5,3,2,4))[0,0]"
        yield f"initializers.variance_scaling(2.,'fan_in','{d}',dtype='complex64')(key(3),(2,3))"
    for f in "glorot he kaiming lecun xavier".split():
        for d in ("normal", "uniform"):
            yield f"initializers.{f}_{d}()(key(3),(2,3))"
    yield "initializers.he_normal(dtype='bfloat16')(key(3),(2,3))"
    yield "initializers.glorot_normal(in_axis=(1,),out_axis=2,batch_axis=0)(key(3),(3,2,2))"
    yield "initializers.orthogonal()(key(3),(2,3))"
    yield "initializers.orthogonal(2.,0)(key(3),(3,2))"
    yield "initializers.orthogonal()(key(3),(2,3,4))"
    yield "initializers.delta_orthogonal()(key(3),(3,2,2))"


class Names(dict[str, Any]):
    """Local names of a case: those of the module ``nn`` and the given ones."""

    def __init__(self, nn: Any, **others: Any) -> None:
        super().__init__(others)
        self.nn = nn

    def __missing__(self, name: str) -> Any:
        if not hasattr(self.nn, name):
            raise KeyError(name)
        return getattr(self.nn, name)


def evaluate(names: Names, case: str) -> Any:
    """The value of a case; comprehensions and functions in it see the names as well."""
    code = compile(case, case, "eval")
    used = {n for c in _codes(code) for n in c.co_names}
    scope = {n: names[n] for n in used if n in names or hasattr(names.nn, n)}
    return eval(code, scope)


def _codes(code: Any) -> Iterator[Any]:
    yield code
    for c in code.co_consts:
        if hasattr(c, "co_names"):
            yield from _codes(c)


def record(value: Any) -> list[Any]:
    """The record of a value."""
    array = np.asarray(value)
    kind = np.complex64 if array.dtype.kind == "c" else np.float32
    parts = array.astype(kind)
    flat = parts.ravel().view(np.float32) if kind is np.complex64 else parts.ravel()
    return [
        str(value.dtype),
        bool(value.weak_type),
        list(array.shape),
        [repr(float(x)) for x in flat],
    ]


def main() -> None:
    """Write the values of all cases."""
    library = importlib.import_module(sys.argv[1])
    nn, numpy, random = (
        importlib.import_module(f"{sys.argv[1]}.{m}") for m in ("nn", "numpy", "random")
    )
    names = Names(
        nn, numpy=numpy, array=numpy.asarray, grad=library.grad, vmap=library.vmap, key=random.key
    )
    lines = [f"{json.dumps(c)}: {json.dumps(record(evaluate(names, c)))}" for c in cases()]
    Path(sys.argv[2]).write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
