"""The primitive of ``lax.custom_linear_solve``: what its equation shows, and who meets it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail as dt
import dovetail.lax as lax
import dovetail.numpy as dnp
from dovetail.experimental import checkify
from dovetail_core import eval_jaxpr, parse_ir, print_ir, printed_constants
from dovetail_custom_rules.linear_solve import linear_solve_p

A = np.array([[2.0, 1.0], [0.5, 3.0]], np.float32)
B = np.array([1.0, 2.0], np.float32)


def solved(a: Any, b: Any, **options: Any) -> Any:
    def solve(matvec: Any, rhs: Any) -> Any:
        return dnp.linalg.solve(a, rhs)

    def transpose_solve(vecmat: Any, rhs: Any) -> Any:
        return dnp.linalg.solve(a.T, rhs)

    options.setdefault("transpose_solve", transpose_solve)
    return lax.custom_linear_solve(lambda x: a @ x, b, options.pop("solve", solve), **options)


def equation(f: Any, *args: Any) -> Any:
    result = [e for e in dt.make_jaxpr(f)(*args).eqns if e.primitive is linear_solve_p]
    return result[0] if len(result) == 1 else result


def test_its_equation_has_four_programs() -> None:
    eqn = equation(solved, A, B)
    assert eqn.primitive.name == "custom_linear_solve"
    lengths, programs = eqn.params["const_lengths"], eqn.params["jaxprs"]
    assert lengths == (1, 1, 1, 1)
    assert programs._fields == lengths._fields == ("matvec", "vecmat", "solve", "transpose_solve")
    values = [eval_jaxpr(p.jaxpr, p.consts, A, B)[0] for p in programs]
    for x, y in zip(values, (A @ B, A.T @ B, np.linalg.solve(A, B), np.linalg.solve(A.T, B))):
        np.testing.assert_allclose(x, y, rtol=1e-5)


def test_what_is_not_given_is_none() -> None:
    eqn = equation(lambda a, b: solved(a, b, transpose_solve=None), A, B)
    assert eqn.params["jaxprs"].vecmat is eqn.params["jaxprs"].transpose_solve is None
    assert eqn.params["const_lengths"] == (1, 0, 1, 0)
    eqn = equation(lambda a, b: solved(a, b, transpose_solve=None, symmetric=True), A, B)
    programs = eqn.params["jaxprs"]
    assert programs.vecmat is programs.matvec and programs.transpose_solve is programs.solve


def test_derivatives_and_batches_are_solves_again() -> None:
    tangent = equation(lambda a, b: dt.jvp(solved, (a, b), (a, b)), A, B)
    assert [e.params for e in tangent] == [tangent[0].params] * 2
    forward, backward = equation(lambda a, b: dt.vjp(solved, a, b)[1](b), A, B)
    assert backward.params["jaxprs"] == forward.params["jaxprs"].transpose()
    assert backward.params["const_lengths"] == forward.params["const_lengths"].transpose()
    for axes in ((0, None), (None, 0), (0, 0)):
        args = [np.stack([x, x]) if d == 0 else x for x, d in zip((A, B), axes)]
        batched = equation(dt.vmap(solved, axes), *args)
        assert [v.aval.shape for v in batched.outvars] == [(2, 2)]
        assert all(p.out_avals[0].shape == (2, 2) for p in batched.params["jaxprs"])


def test_interpreters_bind_it_again_and_text_holds_it() -> None:
    program = dt.make_jaxpr(dt.grad(lambda a, b: solved(a, b).sum(), (0, 1)))(A, B)
    again = dt.make_jaxpr(lambda *xs: eval_jaxpr(program.jaxpr, program.consts, *xs))(A, B)
    assert again.jaxpr == program.jaxpr
    read = parse_ir(print_ir(program), printed_constants(program))
    assert read.jaxpr == program.jaxpr
    for x, y in zip(dt.jit(dt.grad(lambda a, b: solved(a, b).sum(), (0, 1)))(A, B),
                    eval_jaxpr(read.jaxpr, read.consts, A, B)):  # fmt: skip
        np.testing.assert_allclose(x, y, rtol=1e-5)


def test_solvers_with_keys_references_and_checks() -> None:
    key = dt.random.key(0)

    def noisy(key: Any, b: Any) -> Any:
        solve = lambda mv, rhs: rhs / 2.0 + 0.0 * dt.random.normal(key, rhs.shape)  # noqa: E731
        return lax.custom_linear_solve(lambda x: 2.0 * x, b, solve, solve)

    np.testing.assert_allclose(dt.jit(noisy)(key, B), B / 2)
    np.testing.assert_allclose(dt.grad(lambda b: dt.jit(noisy)(key, b).sum())(B), [0.5, 0.5])
    np.testing.assert_allclose(dt.vmap(noisy, (0, None))(dt.random.split(key), B), [B / 2] * 2)

    def counted(b: Any) -> Any:
        def solve(mv: Any, rhs: Any) -> Any:
            ref = dt.new_ref(rhs)
            ref[...] = ref[...] / 2.0
            return ref[...]

        return lax.custom_linear_solve(lambda x: 2.0 * x, b, solve, solve)

    np.testing.assert_allclose(dt.jit(counted)(B), B / 2)
    np.testing.assert_allclose(dt.jit(dt.grad(lambda b: counted(b).sum()))(B), [0.5, 0.5])

    def checked(b: Any) -> Any:
        def solve(mv: Any, rhs: Any) -> Any:
            checkify.check(rhs.sum() > 0, "negative")
            return rhs / 2.0

        return lax.custom_linear_solve(lambda x: 2.0 * x, b, solve, solve)

    run = dt.jit(checkify.checkify(checked))
    assert run(B)[0].get() is None
    assert "negative" in str(run(-B)[0].get())


def test_one_part_of_the_right_hand_side_and_unused_results() -> None:
    def pair(x: Any, y: Any) -> Any:
        solve = lambda mv, rhs: ({"x": rhs["x"] / 2, "y": rhs["y"] / 4}, {"n": 3})  # noqa: E731
        matvec = lambda v: {"x": 2 * v["x"], "y": 4 * v["y"]}  # noqa: E731
        return lax.custom_linear_solve(matvec, {"x": x, "y": y}, solve, solve, has_aux=True)

    assert float(dt.grad(lambda x: pair(x, 1.0)[0]["x"])(3.0)) == 0.5
    assert float(dt.grad(lambda x: pair(x, 1.0)[0]["y"])(3.0)) == 0.0
    out, tangent = dt.jvp(lambda x: pair(x, 1.0), (3.0,), (1.0,))
    assert out[1]["n"] == 3 and tangent[0] == {"x": 0.5, "y": 0.0}
    unused = dt.make_jaxpr(dt.jit(lambda a, b: (solved(a, b), b)[1]))(A, B)
    assert "custom_linear_solve" not in str(dt.jit(lambda a, b: (solved(a, b), b)[1]).lower(A, B))
    assert len(unused.eqns) == 1


def test_bad_input() -> None:
    eqn = equation(solved, A, B)
    with pytest.raises(TypeError, match="matvec takes 2 inputs, but there are 1 constants"):
        dt.make_jaxpr(lambda *xs: linear_solve_p.bind(*xs, **eqn.params))(A, A, A, A, B, B)
    with pytest.raises(TypeError, match="pass transpose_solve, or symmetric=True"):
        dt.jit(dt.grad(lambda b: solved(A, b, transpose_solve=None).sum()))(B)
    with pytest.raises(NotImplementedError, match="linear in the right-hand side"):
        dt.linear_transpose(lambda a: solved(a, B), A)(B)
