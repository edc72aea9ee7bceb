"""Steps with references in custom rules: given as arguments, read and written by body and rules.

References are made in the program, and transformations know the contents of these; so rules get
them as arguments. What closes over references is in ``stateful``.
"""

from __future__ import annotations

from collections.abc import Callable

from .helpers import DIFFERENCE_ERROR
from .regions import Fill, region, result_like
from .scope import Rejected, Scope

# --- state beside values --------------------------------------------------------------------------

# Functions of x and a log: {f}(x) times a factor, by how often the log was used before.
_BODY = "(lambda x, log: stepped(log) * {f}(x)[0])\n"
_RULES = [
    f"{{r}}_f = dovetail.custom_vjp{_BODY}"
    f"{{r}}_f.defvjp(lambda x, log: pull_and_factor({{f}}, x, log), {backward})\n"
    for backward in ("pulled_by_residual", "pulled_by_content", "pulled_and_spoiled")
]
_RULES.append(
    f"{{r}}_f = dovetail.custom_jvp{_BODY}"
    "{r}_f.defjvp(lambda xs, ts: pushed_with_factor({f}, xs, ts))\n"
)
_ONE = "0.5 * {f}({0})[0] + 1.5"
_TWO = "0.75 * {f}(0.5 * {f}({0})[0])[0] + 3.25"
_LOG, _ROWS = "np.zeros(5)", "np.zeros((2, 5))"
_UNLESS = "lax.cond({0}.sum() > 0, {r}_f, lambda x, log: x, {0}, {r})"
_THROUGH_ROWS = "lax.scan(lambda c, log: ({r}_f(c, log), None), {0}, {r})[0]"
# What the log holds at first, uses of it, and their values beside what it holds at last.
_USES = [
    (_LOG, "{r}_f({0}, {r})", _ONE),
    (_LOG, "dovetail.jit({r}_f)({0}, {r})", _ONE),
    (_LOG, "dovetail.checkpoint({r}_f)({0}, {r})", _ONE),
    (_LOG, "dovetail.checkpoint(dovetail.jit({r}_f))({0}, {r})", _ONE),
    (_LOG, "lax.cond(True, {r}_f, lambda x, log: x, {0}, {r})", _ONE),
    (_LOG, "dovetail.vmap({r}_f, (0, None))({0}[None], {r})[0]", _ONE),
    (_LOG, "{r}_f(dovetail.jit({r}_f)({0}, {r}), {r})", _TWO),
    (_LOG, "lax.scan(lambda c, _: ({r}_f(c, {r}), None), {0}, None, 2)[0]", _TWO),
    (_LOG, "dovetail.jit(lambda x, log: lax.scan("
     "lambda c, _: ({r}_f(c, log), None), x, None, 2)[0])({0}, {r})", _TWO),
    (_LOG, "lax.fori_loop(0, 2, lambda i, c: {r}_f(c, {r}), {0})", _TWO),
    (_LOG, "lax.fori_loop(0, 2, lambda i, c: dovetail.checkpoint({r}_f)(c, {r}), {0})", _TWO),
    (_ROWS, "dovetail.vmap({r}_f)(dnp.stack([0.5 * {0}, {0}]), {r})[1]", "0.5 * {f}({0})[0] + 3"),
    (_ROWS, "dovetail.jit(dovetail.vmap(lambda log, x: {r}_f(x, log)))"
     "({r}, dnp.stack([0.5 * {0}, {0}]))[1]", "0.5 * {f}({0})[0] + 3"),
    (_ROWS, _THROUGH_ROWS,
     "0.5 * {f}(0.5 * {f}({0})[0])[0] + 3"),
    (_LOG, _UNLESS, "(" + _ONE + " if {0}.sum() > 0 else {0})"),
]  # fmt: skip


def _kind(s: Scope, kind: str, use: str) -> str:
    """The kind of a step that gives a reference to a function with a rule.

    It cannot be mapped in a branch whose predicate is mapped, and where a loop goes through slices.
    """
    if use not in _NOT_MAPPED and "in branch" not in s.flags:
        return kind
    if "cond writes" in s.flags:
        raise Rejected
    return "unmapped rule"


def logged(s: Scope, fill: Fill) -> None:
    """A function with a rule that counts its calls in a reference, and looks there."""
    a = s.pick(lambda x: x.dtype.name == "float64")
    without = frozenset({"irreversible", "cond writes"})
    inner, (p,) = region(s, fill, [s.values[a]], closed=True, without=without)
    out = result_like(inner, p)
    held, use, numpy = s.rng.choice(_USES)
    kind = _kind(s, "ref in rule", use)
    ours = (
        f"{{r}} = dovetail.new_ref({held})\n{s.rng.choice(_RULES)}{{r}}_y = {use}\n"
        "({r}_y + {r}[..., :4].sum(),)"
    )
    s.add(kind, ours, f"({numpy},)", a, regions=(inner.program(out),))


# --- stashed gradients ----------------------------------------------------------------------------

_STASH = (
    "{r}_s = dovetail.custom_vjp(lambda x, ref: x)\n"
    "{r}_s.defvjp(lambda x, ref: (x, ref), stashed)\n"
    "{r}_g = lambda x, ref: {f}({r}_s(x, ref))[0].sum()\n"
)
_PAIR = "dnp.stack([0.5 * {0}, {0}])"
_SUM_OF_ROWS = (
    "dovetail.grad(lambda x: lax.scan("
    "lambda c, ref: (c + 0.5 * {r}_g(x, ref), None), 0.0, {r})[0])({0})"
)
# What the reference holds at first, derivatives that are stashed there, and where they are found.
_ORDERS = [
    ("{0}", "dovetail.grad({r}_g)({0}, {r})", "{r}[...]"),
    ("{0}", "dovetail.jit(dovetail.grad({r}_g))({0}, {r})", "{r}[...]"),
    ("{0}", "dovetail.grad(dovetail.jit({r}_g))({0}, {r})", "{r}[...]"),
    ("{0}", "dovetail.grad(dovetail.checkpoint({r}_g))({0}, {r})", "{r}[...]"),
    ("{0}", "dovetail.vjp(lambda x: {r}_g(x, {r}), {0})[1](1.0)", "{r}[...]"),
    (_PAIR, f"dovetail.vmap(dovetail.grad({{r}}_g))({_PAIR}, {{r}})", "{r}[1]"),
    (_PAIR, f"dovetail.grad(lambda x: dovetail.vmap({{r}}_g)(x, {{r}}).sum())({_PAIR})", "{r}[1]"),
    (_PAIR, _SUM_OF_ROWS, "{r}[...].sum(0)"),
]  # fmt: skip
_NOT_MAPPED = {_UNLESS, _THROUGH_ROWS, _SUM_OF_ROWS}


def stash(s: Scope, fill: Fill) -> None:
    """A gradient that a backward rule writes to a reference."""
    if "derivative" in s.flags:
        raise Rejected
    a = s.pick(lambda x: x.dtype.name == "float64" and x.size < 7)
    without = frozenset({"irreversible", "derivative", "farthest", "complex", "cond writes"})
    inner, _ = region(s, fill, [s.values[a]], closed=True, without=without)
    out = [n for n in inner.own() if inner.values[n].dtype.name == "float64"][-1]
    held, order, result = s.rng.choice(_ORDERS)
    ours = f"{{r}} = dovetail.new_ref(dnp.zeros_like({held}))\n{_STASH}{order}\n(0.1 * {result},)"
    numpy = "(0.1 * gradient_numpy({f}, {0}),)"
    regions = (inner.program(out),)
    s.add(_kind(s, "stash", order), ours, numpy, a, regions=regions, error=DIFFERENCE_ERROR)


STEPS: list[tuple[int, Callable[[Scope, Fill], None]]] = [(3, logged), (2, stash)]
