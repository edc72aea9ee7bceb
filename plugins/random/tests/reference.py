"""Makes the reference values of the random tests, from any library with this interface.

    python plugins/random/tests/reference.py jax plugins/random/tests/reference.json

A case is an expression in the functions of ``<library>.random``. Cases under ``exact`` are made of
integer operations and single roundings, so that a checksum of the bytes says it all; the values of
the others go through logarithms and the like, whose last bit depends on the processor.
"""

from __future__ import annotations

import base64
import contextlib
import importlib
import json
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

SHAPES = "() (0,) (1,) (2,) (7,) (64,) (3,5) (2,3,4) (1031,) (2,0,3)".split()
FLOATS = "bfloat16 float16 float32".split()
INTS = "int8 uint8 int16 uint16 int32 uint32".split()


def exact_cases() -> Iterator[str]:
    """Expressions whose values are the same on every processor."""
    for seed in "0 1 -1 42 2**31 2**33+5 True np.int8(-3) np.uint32(2**32-1)".split():
        yield f"key_data(key({seed}))"
    yield "PRNGKey(7)"
    yield "PRNGKey(np.int64(2**40+3))"
    for n in ("1", "2", "3", "(2,3)", "()", "0", "257"):
        yield f"key_data(split(key(3),{n}))"
    yield "split(PRNGKey(5))"
    yield "key_data(clone(split(key(3))))"
    for d in ("0", "7", "2**32-1", "np.int32(-1)", "True", "array([9])[0]"):
        yield f"key_data(fold_in(key(3),{d}))"
    for shape in SHAPES:
        for dtype in ("uint8", "uint16", "uint32"):
            yield f"bits(key(11),{shape},'{dtype}')"
        for dtype in FLOATS:
            yield f"uniform(key(12),{shape},'{dtype}')"
        yield f"uniform(PRNGKey(12),{shape},'float32',-2.0,6.0)"
        for dtype in INTS:
            yield f"randint(key(13),{shape},0,100,'{dtype}')"
        yield f"bernoulli(key(14),0.3,{shape})"
        yield f"rademacher(key(15),{shape},'float32')"
    yield from selections()
    yield from odd_ranges()


def selections() -> Iterator[str]:
    """Permutations and choices."""
    for n in (0, 1, 2, 10, 1031):
        yield f"permutation(key(16),{n})"
        yield f"permutation(PRNGKey(16),array(range({n})))"
    for axis in (0, 1, -1):
        for independent in (False, True):
            matrix = "array(range(35)).reshape(5,7)"
            yield f"permutation(key(17),{matrix},{axis},independent={independent})"
    yield "choice(key(18),10)"
    yield "choice(key(18),array([3,1,4,1,5,9]),(2,5))"
    yield "choice(key(18),10,(7,),replace=False)"
    yield "choice(key(18),array(range(12)).reshape(4,3),(2,),replace=False,axis=0)"
    yield "choice(key(18),array(range(12)).reshape(4,3),(5,),axis=1)"
    yield "choice(key(18),4,(9,),p=array([.1,.2,.3,.4]))"
    yield "choice(key(18),array([3,1,4,1]),(3,),replace=False,p=array([.1,.2,.3,.4]))"
    yield "choice(key(18),array([3,1,4,1]),(3,),replace=False,p=array([.1,.2,.3,.4]),mode='high')"
    yield "choice(key(18),array([3,1,4]),(2,),replace=False,p=array([.1,.2,.7]),mode='highest')"


def odd_ranges() -> Iterator[str]:
    """Integer ranges at and over the ends of their types, and arrays as bounds."""
    for lo, hi, dtype in [
        (0, 256, "uint8"), (-10, 300, "uint8"), (-128, 128, "int8"), (-5, -2, "int8"),
        (5, 5, "int32"), (5, 2, "int32"), (0, 2**31 - 1, "int32"), (-(2**31), 2**31 - 1, "int32"),
        (0, 3, "uint16"), (0, 2**16, "uint16"), (0, 2**31 - 1, "uint32"),
    ]:  # fmt: skip
        yield f"randint(key(19),(33,),{lo},{hi},'{dtype}')"
    yield "randint(key(19),(3,2),array([0,10]),array([10,1000]))"
    yield "randint(key(19),(3,),0.0,7)"
    yield "uniform(key(20),(4,3),minval=array([0.,1.,4.]),maxval=8.0)"
    yield "uniform(key(20),(3,),minval=2.0,maxval=1.0)"
    yield "bernoulli(key(20),array([.1,.5,.9]))"
    yield "bernoulli(key(20),array([.1,.5,.9]),(4,3),mode='high')"
    yield "bernoulli(key(20))"
    yield "categorical(key(21),array([[0.,1.,2.],[2.,1.,0.]]))"
    yield "categorical(key(21),array([[0.,1.,2.],[2.,1.,0.]]),axis=0)"
    yield "categorical(key(21),array([[0.,1.,2.],[2.,1.,0.]]),shape=(7,2))"
    yield "categorical(key(21),array([0.,1.,2.,-1.]),shape=(2,),replace=False)"
    yield "categorical(key(21),array([[0.,1.,2.],[2.,1.,0.]]),shape=(2,2),replace=False)"
    for mode in ("high", "highest"):
        yield f"categorical(key(21),array([[0.,1.,2.],[2.,1.,0.]]),shape=(5,2),mode='{mode}')"


def close_cases() -> Iterator[str]:
    """Expressions whose last bits depend on the processor."""
    for name in "normal gumbel exponential laplace logistic cauchy".split():
        for dtype in FLOATS:
            yield f"{name}(key(31),(3,7),'{dtype}')"
        yield f"{name}(PRNGKey(32))"
    yield "normal(key(31),(5,),'complex64')"
    yield "gumbel(key(31),(17,),mode='high')"
    yield "gumbel(key(31),(17,),mode='highest')"
    yield "gumbel(key(31),(17,),'bfloat16',mode='highest')"
    yield "uniform(key(31),(37,),'float32',-0.3,1.7)"
    yield "uniform(key(31),(37,),'bfloat16',-0.3,1.7)"
    yield "truncated_normal(key(33),-2.0,2.0,(31,))"
    yield "truncated_normal(key(33),array([0.,1.]),array([1.,1.5]),(6,2))"
    yield "truncated_normal(key(33),-1.0,3.0,(9,),'bfloat16')"
    yield "lognormal(key(34),0.5,(9,))"
    yield "rayleigh(key(34),array([.5,2.]),(4,2))"
    yield "pareto(key(34),array([.5,2.]),(4,2))"
    yield "maxwell(key(34),(9,))"
    yield "double_sided_maxwell(key(34),1.0,2.0,(9,))"
    yield "weibull_min(key(34),2.0,1.5,(9,))"
    yield "triangular(key(34),0.0,0.3,1.0,(19,))"
    yield "wald(key(34),array([.5,2.]),(9,2))"
    yield "ball(key(34),3,shape=(4,))"
    yield "ball(key(34),2,p=1.0,shape=(4,))"
    yield "ball(key(34),3,array(1.7),(4,),'bfloat16')"
    yield "generalized_normal(key(34),1.5,(9,))"
    yield "generalized_normal(key(34),array([1.,2.5,2.]),(9,3))"
    yield "geometric(key(34),0.3,(29,))"
    yield from gamma_cases()
    yield from counting_cases()


def gamma_cases() -> Iterator[str]:
    """Distributions made of gamma variates."""
    yield "gamma(key(35),array([.01,.3,1.,2.5,30.]),(7,5))"
    yield "loggamma(key(35),array([.01,.3,1.,2.5,30.]),(7,5))"
    yield "gamma(key(35),2.0)"
    yield "gamma(key(35),0.7,(5,),'bfloat16')"
    yield "gamma(key(35,impl='rbg'),array([.3,2.5]),(3,2))"
    yield "vmap(lambda k: gamma(k,array([.3,2.5]),(3,2)))(split(key(35,impl='rbg'),2))"
    yield "beta(key(36),array([.3,2.]),array([.5,4.]),(6,2))"
    yield "dirichlet(key(36),array([.3,2.,5.]),(4,))"
    yield "chisquare(key(36),array([1.,7.]),(5,2))"
    yield "t(key(36),3.0,(11,))"
    yield "f(key(36),3.0,8.0,(11,))"


def counting_cases() -> Iterator[str]:
    """Distributions of counts."""
    yield "poisson(key(37),array([0.,.5,4.,9.9,10.,300.]),(9,6))"
    yield "poisson(key(37),3.0,(5,),'int16')"
    yield "binomial(key(38),10,array([.1,.5,.8]),(7,3))"
    yield "binomial(key(38),1000.0,array([.001,.5,.8]),(7,3))"
    yield "multinomial(key(39),20,array([.2,.3,.5]))"


def original_cases() -> Iterator[str]:
    """Expressions under the original arrangement of counters."""
    for n in ("1", "2", "3", "(2,3)", "0"):
        yield f"key_data(split(key(3),{n}))"
    yield "key_data(fold_in(key(3),7))"
    for shape in SHAPES:
        for dtype in ("uint8", "uint16", "uint32"):
            yield f"bits(key(11),{shape},'{dtype}')"
        yield f"uniform(key(12),{shape},'bfloat16')"
    yield "randint(key(13),(5,7),-7,99)"
    yield "permutation(key(16),10)"


def wide_cases() -> Iterator[str]:
    """Expressions with 64-bit types, which need x64."""
    for seed in ("0", "-1", "2**33+5", "np.uint64(2**63+5)", "2**63-1"):
        yield f"key_data(key({seed}))"
    for shape in SHAPES:
        yield f"bits(key(11),{shape},'uint64')"
        yield f"uniform(key(12),{shape},'float64')"
        yield f"randint(key(13),{shape},-5,2**40,'int64')"
    yield "bits(key(11),(3,))"
    yield "randint(key(13),(5,),0,2**32,'uint32')"
    yield "randint(key(13),(5,),-2**63,2**63-1)"
    yield "randint(key(13),(5,),0,100)"
    yield "key_data(fold_in(key(3),np.int64(2**33+1)))"
    yield "permutation(key(16),10)"
    yield "choice(key(18),10,(3,))"


def rbg_cases() -> Iterator[str]:
    """The generators that are hardware's where there is one."""
    for impl in ("rbg", "unsafe_rbg"):
        yield f"key_data(key(5,impl='{impl}'))"
        yield f"key_data(split(key(5,impl='{impl}'),3))"
        yield f"key_data(fold_in(key(5,impl='{impl}'),3))"
        for dtype in ("uint8", "uint16", "uint32"):
            yield f"bits(key(5,impl='{impl}'),(5,3),'{dtype}')"
        yield f"uniform(key(5,impl='{impl}'),(7,),'float32')"
        yield f"randint(key(5,impl='{impl}'),(7,),0,10)"
        keys = f"split(key(5,impl='{impl}'),3)"
        yield f"vmap(lambda k: bits(k,(5,)))({keys})"
        yield f"vmap(lambda k: uniform(k,(5,)),out_axes=1)({keys})"
        yield f"vmap(vmap(lambda k: bits(k,(2,),'uint8')))(split(key(5,impl='{impl}'),(3,2)))"
        yield f"key_data(vmap(lambda k: split(k,2))({keys}))"
        yield f"key_data(vmap(lambda k: fold_in(k,3))({keys}))"
        yield f"vmap(lambda k: randint(k,(3,),0,100))({keys})"


GROUPS = {
    "exact": exact_cases, "original": original_cases, "wide": wide_cases,
    "rbg": rbg_cases, "close": close_cases,
}  # fmt: skip


@contextlib.contextmanager
def setting(library: Any, group: str) -> Iterator[None]:
    """The configuration that the cases of ``group`` are evaluated under."""
    with contextlib.ExitStack() as stack:
        if group == "wide":
            stack.enter_context(library.enable_x64(True))
        if group == "original":
            stack.enter_context(library.threefry_partitionable(False))
        yield


def evaluate(random: Any, asarray: Any, vmap: Any, case: str) -> np.ndarray[Any, Any]:
    """The value of a case in the functions of the module ``random``."""
    names = {name: getattr(random, name) for name in dir(random) if name[0] != "_"}
    return np.asarray(eval(case, names | {"np": np, "array": asarray, "vmap": vmap}))


def record(value: np.ndarray[Any, Any], exact: bool) -> list[Any]:
    """The record of a value: dtype, shape, and a checksum or the bytes."""
    data = np.ascontiguousarray(value).tobytes()
    kept = zlib.crc32(data) if exact else base64.b64encode(data).decode()
    return [value.dtype.name, list(value.shape), kept]


def recall(kept: list[Any]) -> np.ndarray[Any, Any]:
    """The value whose bytes were recorded."""
    name, shape, data = kept
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    return np.frombuffer(base64.b64decode(data), dtype).reshape(shape)


def main() -> None:
    """Write the values of all cases."""
    library = importlib.import_module(sys.argv[1])
    random = importlib.import_module(f"{sys.argv[1]}.random")
    asarray = importlib.import_module(f"{sys.argv[1]}.numpy").asarray
    result: dict[str, dict[str, Any]] = {}
    for group, cases in GROUPS.items():
        with setting(library, group):
            result[group] = {
                case: record(evaluate(random, asarray, library.vmap, case), group != "close")
                for case in cases()
            }
    lines = [
        f' "{group}": {{\n'
        + ",\n".join(f"  {json.dumps(case)}: {json.dumps(kept)}" for case, kept in values.items())
        + "\n }"
        for group, values in result.items()
    ]
    Path(sys.argv[2]).write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
