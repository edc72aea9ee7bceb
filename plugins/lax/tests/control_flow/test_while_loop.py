"""The form of ``while``: constants of each program, and of both where a value is mutable."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np

import dovetail as dt
import dovetail.numpy as dnp
from dovetail import lax
from dovetail_core import dce_closed, jaxpr_as_fun
from dovetail_lax import while_p


def until(limit: Any, by: Any, start: Any) -> Any:
    """Both programs close over ``limit``."""
    return lax.while_loop(lambda c: c < limit, lambda c: c * by + 0 * limit, start)


def loop_of(program: Any) -> Any:
    (eqn,) = [e for e in program.eqns if e.primitive is while_p]
    return eqn


def counts(eqn: Any) -> tuple[int, int, int]:
    p = eqn.params
    assert len(p["cond_jaxpr"].in_avals) == p["cond_nconsts"] + len(eqn.outvars)
    assert len(p["body_jaxpr"].in_avals) == p["body_nconsts"] + len(eqn.outvars)
    return p["cond_nconsts"], p["body_nconsts"], len(eqn.invars)


def test_each_program_takes_the_constants_that_it_uses() -> None:
    program = dt.make_jaxpr(until)(10.0, 2.0, 1.0)
    eqn = loop_of(program)
    assert counts(eqn) == (1, 2, 4)
    params = {
        k: eqn.params[k] for k in ("cond_jaxpr", "body_jaxpr", "cond_nconsts", "body_nconsts")
    }
    assert params == eqn.params
    (out,) = while_p.bind(50.0, 3.0, 0.0, 1.0, **params)
    assert out == 81
    count = dt.make_jaxpr(lambda n: lax.fori_loop(0, n, lambda i, c: c * 2, 1.0))(3)
    assert counts(loop_of(count)) == (0, 0, 3)


def test_transformed_loops_have_this_form() -> None:
    args = 10.0, 2.0, 1.0
    pushed = dt.make_jaxpr(lambda *a: dt.jvp(until, a, a))(*args)
    assert counts(loop_of(pushed))[2] == len(loop_of(pushed).invars)
    # jvp of 1 * by**4 is by**4 + 4 * by**3 * by at tangents that are the primals
    np.testing.assert_allclose(jaxpr_as_fun(pushed)(*args), [16, 80], rtol=1e-6)
    limits, by = dnp.array([10.0, 100.0]), dnp.array([2.0, 3.0])
    mapped = dt.make_jaxpr(dt.vmap(until, in_axes=(0, 0, None)))(limits, by, 1.0)
    counts(loop_of(mapped))
    np.testing.assert_allclose(jaxpr_as_fun(mapped)(limits, by, 1.0)[0], [16, 243])
    both = lambda n, a, b: lax.while_loop(  # noqa: E731
        lambda c: c[0] < n, lambda c: (c[0] + 1, c[1] * a, c[2] * b + a), (0, 1.0, 1.0)
    )
    reduced, needed = dce_closed(dt.make_jaxpr(both)(3, 2.0, 5.0), [True, True, False])
    assert counts(loop_of(reduced)) == (1, 1, 4) and needed == [True, True, False]
    np.testing.assert_allclose(jaxpr_as_fun(reduced)(3, 2.0), [3, 8])


def test_a_reference_is_one_operand_of_both_programs() -> None:
    def run(x: Any) -> Any:
        ref = dt.new_ref(x)

        def body(n: Any) -> Any:
            ref[...] = ref[...] * 2
            return n + 1

        n = lax.while_loop(lambda n: ref[...] < 20, body, 0)
        return n, ref[...]

    eqn = loop_of(dt.make_jaxpr(run)(3.0))
    assert eqn.params["num_consts"] == 1 and len(eqn.invars) == 2
    for f in run, dt.jit(run):
        assert f(3.0) == (3, 24)


def test_its_primitive_is_one_of_the_plugins() -> None:
    """The command line finds primitives in the modules that manifests name, and in no others."""
    code = """
from dovetail_core import primitives
assert "while" not in primitives()
print(primitives()["while"].module)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "dovetail_lax.primitives.control_flow\n"
