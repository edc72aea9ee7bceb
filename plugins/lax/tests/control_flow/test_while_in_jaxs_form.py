"""``while_p`` with constants of the condition and of the body apart."""

from __future__ import annotations

import dovetail
from dovetail import lax, numpy as dnp
from dovetail.lax import while_p


def test_binding_it() -> None:
    cond = dovetail.make_jaxpr(lambda limit, x: x < limit)(8.0, 1.0)
    body = dovetail.make_jaxpr(lambda a, b, x: x * a + b)(2.0, 1.0, 1.0)
    params = {"cond_jaxpr": cond, "body_jaxpr": body, "cond_nconsts": 1, "body_nconsts": 2}
    operands = [dnp.float32(x) for x in (8.0, 2.0, 1.0, 1.0)]
    assert while_p.bind(*operands, **params) == [15.0]
    run = dovetail.jit(lambda *xs: while_p.bind(*xs, **params)[0])
    assert run(*operands) == 15
    assert dovetail.jvp(run, operands, [0.0, 0.0, 0.0, 1.0])[1] == 8
    (eqn,) = dovetail.make_jaxpr(lambda *xs: while_p.bind(*xs, **params))(*operands).eqns
    assert eqn.params["num_consts"] == 3
    again = lax.while_p.bind(*operands, **eqn.params)
    assert again == [15.0]
