"""What control flow and operations refuse: the function, the place, the user's line, the remedy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_jit import jit

X = np.linspace(0.1, 1.0, 4, dtype=np.float32)
Y = np.ones(3, np.float32)
N = np.arange(4, dtype=np.int32)
M = np.ones((2, 3), np.float32)
HERE = r"at \S*control_flow/test_bad_input\.py:\d+"
Call = Callable[[], Any]


def same(x: Any) -> Any:
    return x


def twice(x: Any) -> Any:
    return (x, x)


def halve(c: Any, _: Any = None) -> Any:
    return c / 2


BRANCHES: dict[str, tuple[Call, type[Exception], str]] = {
    "structure": (
        lambda: lax.cond(True, twice, same, X), TypeError,
        rf"cond branch outputs must have the same pytree structure: same \(branch 0\) and twice "
        r"\(branch 1\) must have one structure, but they differ: at the root: a leaf against "
        rf"tuple.*{HERE}",
    ),
    "shape": (
        lambda: lax.cond(True, same, dnp.sum, X), TypeError,
        rf"result has type f32\[\] in sum \(branch 0\) and f32\[4\] in same \(branch 1\) "
        rf"\(reshape or broadcast one of them\) {HERE}",
    ),
    "dtype": (
        lambda: lax.switch(0, [same, lambda x: {"a": x}["a"] > 0], X), TypeError,
        rf"switch: .*f32\[4\] in same \(branch 0\) and bool\[4\] in .*astype\('float32'\)\) {HERE}",
    ),
    "keys": (
        lambda: lax.switch(0, [lambda x: {"a": x}, lambda x: {"b": x}], X), TypeError,
        rf"at the root: dict with different entries: \['a'\] only in the first.*{HERE}",
    ),
    "predicate": (
        lambda: lax.cond(X, same, same, X), TypeError,
        rf"cond: the predicate must be a boolean scalar, got f32\[4\] {HERE}.*Reduce it \(\.any",
    ),
    "no predicate": (
        lambda: lax.cond("a", same, same, X), TypeError,
        rf"cond: the predicate {HERE}.*'a' of type str is not a valid array value",
    ),
    "index": (
        lambda: lax.switch(1.0, [same, same], X), TypeError,
        rf"switch: the index must be an integer scalar, got f32\[\]~ {HERE}.*Convert it",
    ),
    "no branches": (lambda: lax.switch(0, [], X), ValueError, rf"at least one branch {HERE}"),
    "no function": (
        lambda: lax.cond(True, 1, same, X), TypeError, rf"must be a function, got 1 .*{HERE}"
    ),
    "operand": (
        lambda: lax.cond(True, same, same, {"k": [X, "text"]}), TypeError,
        rf"cond: operands\[0\]\['k'\]\[1\] {HERE}.*'text' of type str is not a valid",
    ),
    "result": (
        lambda: lax.cond(True, lambda: "text", lambda: "text"), TypeError,
        rf"<lambda> returned a value that is not an array {HERE}.*'text' of type str",
    ),
}  # fmt: skip

LOOPS: dict[str, tuple[Call, type[Exception], str]] = {
    "scan dtype": (
        lambda: lax.scan(lambda c, x: (halve(c), x), np.int32(1), X), TypeError,
        rf"scan: the loop carry: types must agree, but carry has type i32\[\] in the input and "
        rf"f32\[\]~? in the result of <lambda> \(convert one .*\) {HERE}",
    ),
    "scan shape": (
        lambda: lax.scan(lambda c, x: ({"a": dnp.stack([c["a"]] * 2)}, x), {"a": 0.0}, X),
        TypeError,
        rf"carry\['a'\] has type f32\[\]~ in the input and f32\[2\].*\(reshape or broadc.*{HERE}",
    ),
    "scan structure": (
        lambda: lax.scan(lambda c, x: ((c, c), x), 0.0, X), TypeError,
        rf"the input and the result of <lambda> must have one structure.*{HERE}",
    ),
    "scan pair": (
        lambda: lax.scan(lambda c, x: c, 0.0, X), TypeError,
        rf"scan: <lambda> must return a pair \(carry, y\), but it returned .*{HERE}.*Return None",
    ),
    "scan lengths": (
        lambda: lax.scan(lambda c, x: (c, x), 0.0, {"a": X, "b": Y}), ValueError,
        rf"one length, but xs\['a'\] has 4, xs\['b'\] has 3 {HERE}.*Slice the longer ones",
    ),
    "scan scalar": (
        lambda: lax.scan(lambda c, x: (c, x), 0.0, (X, 1.0)), ValueError,
        rf"scan: xs\[1\] is a scalar: it has no axis to scan over {HERE}",
    ),
    "scan length": (
        lambda: lax.scan(lambda c, x: (c, x), 0.0), ValueError, rf"pass xs with arrays, .*{HERE}"
    ),
    "scan carry": (
        lambda: lax.scan(lambda c, x: (c, x), [0.0, "text"], X), TypeError,
        rf"scan: the initial carry\[1\] {HERE}.*'text' of type str is not a valid array",
    ),
    "scan xs": (
        lambda: lax.scan(lambda c, x: (c, x), 0.0, [X, "text"]), TypeError,
        rf"scan: xs\[1\] {HERE}.*'text' of type str is not a valid array",
    ),
    "scan result": (
        lambda: lax.scan(lambda c, x: (c, "text"), 0.0, X), TypeError,
        rf"<lambda> returned a value that is not an array {HERE}",
    ),
    "map result": (lambda: lax.map(lambda x: "text", X), TypeError, rf"not an array {HERE}"),
    "while dtype": (
        lambda: lax.while_loop(lambda c: c < 3, halve, np.int32(1)), TypeError,
        rf"while_loop: the loop carry: .*i32\[\] in the input .* result of halve .*{HERE}",
    ),
    "while predicate in a tuple": (
        lambda: lax.while_loop(lambda c: (c < 3,), halve, 1.0), TypeError,
        rf"must return one boolean scalar, but it returned .* of bool\[\]~ {HERE}",
    ),
    "scan length type": (
        lambda: lax.scan(same, 1.0, None, length=float("inf")), TypeError,  # type: ignore[arg-type]
        rf"scan: length must be an integer, got inf of type float in scan {HERE}",
    ),
    "negative length": (
        lambda: lax.scan(same, 1.0, None, length=-1), ValueError,
        rf"scan: length must not be negative, got -1 {HERE}",
    ),
    "unroll": (
        lambda: lax.scan(lambda c, x: (c, x), 1.0, X, unroll=2.0), TypeError,  # type: ignore[arg-type]
        rf"scan: unroll must be an integer, got 2.0 of type float in scan {HERE}",
    ),
    "batch size": (
        lambda: lax.map(same, X, batch_size=-1), ValueError,
        rf"map: batch_size must not be negative, got -1 {HERE}",
    ),
    "while structure": (
        lambda: lax.while_loop(lambda c: c[0] < 3, list, (0, 1)), TypeError,
        rf"at the root: tuple with 2 children against list with 2 children {HERE}",
    ),
    "while predicate": (
        lambda: lax.while_loop(lambda c: c, same, 0), TypeError,
        rf"while_loop: <lambda> must return one boolean scalar, .*i32\[\]~ {HERE}.*compare it",
    ),
    "while predicates": (
        lambda: lax.while_loop(lambda c: c < 3, same, X), TypeError,
        rf"must return one boolean scalar, but .*bool\[4\] {HERE}.*Reduce it \(\.any\(\)",
    ),
    "fori dtype": (
        lambda: lax.fori_loop(0, 3, lambda i, c: halve(c), np.int32(1)), TypeError,
        rf"fori_loop: the loop carry: types must agree.*i32\[\] .*{HERE}",
    ),
    "fori bounds": (
        lambda: lax.fori_loop(0, X, lambda i, c: c, 0), TypeError,
        rf"fori_loop: upper must be an integer or floating-point scalar, got f32\[4\] {HERE}.*Conv",
    ),
    "fori traced boolean": (
        lambda: jit(lambda n: lax.fori_loop(False, n, lambda i, c: c, 0))(True), TypeError,
        rf"fori_loop: upper must be an integer or floating-point scalar, got bool\[\] {HERE}",
    ),
    "fori bounds of two kinds": (
        lambda: lax.fori_loop(0.0, 3, lambda i, c: c, 0), TypeError,
        rf"fori_loop: lower has type f32\[\]~, upper i32\[\]~ {HERE}.*: convert one",
    ),
    "fori nan": (
        lambda: lax.fori_loop(0.0, float("nan"), lambda i, c: c, 0), ValueError,
        "cannot convert float NaN to integer",
    ),
    "partial": (
        lambda: lax.while_loop(lambda c: c < 3, partial(halve, _=None), np.int32(1)), TypeError,
        rf"in the result of halve .*{HERE}",
    ),
}  # fmt: skip

SHAPES: dict[str, tuple[Call, type[Exception], str]] = {
    "lax.add": (
        lambda: lax.add(X, Y), TypeError,
        rf"lax\.add takes operands of equal shapes, .*\(4,\), \(3,\) {HERE}.*Reshape or broadcast",
    ),
    "lax.add dtypes": (
        lambda: lax.add(X, N), TypeError, rf"one dtype, got f32\[4\] and i32\[4\] {HERE}.*Convert"
    ),
    "lax.sin": (lambda: lax.sin(N), TypeError, rf"lax\.sin does not accept .*int32 .*{HERE}"),
    "lax.dot_general": (
        lambda: lax.dot_general(M, M, (((1,), (0,)), ((), ()))), TypeError,
        rf"contracting axes \(1,\) and \(0,\), of sizes \(3,\) and \(2,\) {HERE}.*Transpose",
    ),
    "lax.reshape": (lambda: lax.reshape(X, (3,)), TypeError, rf"new_sizes \(3,\) {HERE}.*product"),
    "add": (
        lambda: dnp.asarray(X) + Y, TypeError,
        rf"add got shapes that cannot be broadcast together: \(4,\), \(3,\) {HERE}.*reshape, or",
    ),
    "dot": (lambda: dnp.dot(X, Y), TypeError, rf"dot got operands of shapes .*{HERE}.*Transpose"),
    "matmul": (lambda: dnp.asarray(M) @ M, TypeError, rf"matmul got .*{HERE}.*Transpose one"),
    "einsum": (
        lambda: dnp.einsum("ij,jk->ik", M, M), ValueError,
        rf"einsum 'ij,jk->ik': the subscript 'j' has size 2 in operand 1 .*{HERE}.*reshape",
    ),
    "stack": (lambda: dnp.stack([X, Y]), ValueError, rf"stack: .*\(4,\), \(3,\) {HERE}.*Broadcast"),
    "concatenate": (
        lambda: dnp.concatenate([M, np.ones((2, 2))]), TypeError, rf"along axis 0 {HERE}.*reshape"
    ),
    "reshape": (lambda: dnp.asarray(X).reshape(3), TypeError, rf"cannot reshape .*{HERE}"),
    "broadcast_to": (
        lambda: dnp.broadcast_to(X, (3,)), ValueError, rf"does not broadcast to .*{HERE}.*must be"
    ),
    "sum": (lambda: dnp.sum(X, axis=2), ValueError, rf"axis 2 is out of bounds .*{HERE}.*Use an"),
    "index": (lambda: dnp.asarray(X)[0, 1], IndexError, rf"too many indices: .*{HERE}"),
    "list": (lambda: dnp.sin([1.0]), TypeError, rf"sin requires an array .*{HERE}.*asarray"),
}  # fmt: skip

INTEGERS: dict[str, tuple[Call, str]] = {
    "x + n": (lambda: dnp.asarray(N) + 2**40, "int32"),
    "x == n": (lambda: dnp.asarray(N) == 2**40, "int32"),
    "traced": (lambda: jit(lambda x: x + 2**40)(N), "int32"),
    "argument": (lambda: jit(same)(2**40), "int32"),
    "lax": (lambda: lax.add(N, 2**40), "int32"),
    "asarray": (lambda: dnp.asarray(2**40), "int32"),
    "array": (lambda: dnp.array([1, 2**40]), "int32"),
    "dtype": (lambda: dnp.asarray(300, dnp.uint8), "uint8"),
    "rows": (lambda: dnp.array([[300]], dnp.uint8), "uint8"),
    "full": (lambda: dnp.full((2,), 2**40), "int32"),
    "where": (lambda: dnp.where(N > 0, N, 2**40), "int32"),
    "set": (lambda: dnp.asarray(N).at[0].set(2**40), "int32"),
    "float": (lambda: dnp.asarray(X) + 10**400, "float32"),
    "huge": (lambda: dnp.asarray(10**400, dnp.float32), "float32"),
}


@pytest.mark.parametrize("case", BRANCHES)
def test_branches(case: str) -> None:
    call, error, said = BRANCHES[case]
    with pytest.raises(error, match=said):
        call()


@pytest.mark.parametrize("case", LOOPS)
def test_loops(case: str) -> None:
    call, error, said = LOOPS[case]
    with pytest.raises(error, match=said):
        call()


@pytest.mark.parametrize("case", SHAPES)
@pytest.mark.parametrize("how", ["eager", "traced"])
def test_shapes_and_dtypes(case: str, how: str) -> None:
    call, error, said = SHAPES[case]
    with pytest.raises(error, match=said):
        call() if how == "eager" else jit(call)()


@pytest.mark.parametrize("case", INTEGERS)
def test_integers_that_do_not_fit(case: str) -> None:
    call, dtype = INTEGERS[case]
    said = rf"the Python integer (1099511627776|300|of 1329 bits) does not fit into {dtype} {HERE}"
    with pytest.raises(OverflowError, match=rf"{said}.*Enable 64-bit types .*wider dtype"):
        call()


def test_the_line_of_an_operation_in_a_loop_body_is_its_own() -> None:
    def body(c: Any, x: Any) -> Any:
        return lax.add(c, Y), x

    with pytest.raises(TypeError, match=rf"lax\.add .*{HERE} \(.*body\)"):
        jit(lambda x: lax.scan(body, X, x))(X)
