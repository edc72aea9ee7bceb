"""Steps with programs inside: control flow, checkpoints, custom rules, derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .helpers import DIFFERENCE_ERROR
from .programs import Type, kind_of, type_of
from .scope import Rejected, Scope, with_type

Fill = Callable[[Scope], None]
"""Adds some random steps to a scope."""


def smooth(x: Any) -> bool:
    return x.dtype.name in ("float64", "complex128")


def _operands(s: Scope, least: int = 1) -> list[str]:
    names = list(dict.fromkeys(s.pick() for _ in range(s.rng.choice([1, 2, 2, 3]))))
    if len(names) < least:
        raise Rejected
    return names


def _list(names: Sequence[int]) -> str:
    return ", ".join(f"{{{i}}}" for i in names)


def _any_results(s: Scope, inner: Scope) -> list[str]:
    return inner.loose_ends()[-s.rng.choice([1, 2, 2, 3]) :]


def region(s: Scope, fill: Fill, values: Sequence[Any], **how: Any) -> tuple[Scope, list[str]]:
    inner = s.inside(**how)
    params = [inner.param(x) for x in values]
    fill(inner)
    return inner, params


def result_like(inner: Scope, param: str) -> str:
    """A value of the type of ``param``: one that is there, or one that is made."""
    t = type_of(inner.values[param])
    made = [n for n in inner.own() if n != param and with_type(t)(inner.values[n])]
    if made and inner.rng.random() < 0.8:
        return made[-1]
    return blend(inner, param)


def blend(inner: Scope, param: str) -> str:
    """``param`` changed by another value, if there is one that may."""
    x = inner.values[param]
    kind = kind_of(x.dtype)
    if kind == "b":
        return inner.add("elementwise", "~{0}", "~{0}", param)[0]
    if kind in "iu":
        text = "({0} + 1) % 7"
        return inner.add("elementwise", text, text, param)[0]
    others = [n for n in inner.values if inner.values[n].dtype == x.dtype and n != param]
    if not others:
        text = "{xp}.cos({0}) * 0.5"
        return inner.add("elementwise", *_xp(text), param)[0]
    text = "0.5 * {0} + 0.3 * {xp}.sin({1}).sum()"
    return inner.add("elementwise", *_xp(text), param, inner.rng.choice(others[-3:]))[0]


def _xp(text: str) -> tuple[str, str]:
    return text.replace("{xp}", "dnp"), text.replace("{xp}", "np")


# --- calls ----------------------------------------------------------------------------------------

_CALLS = [
    "(lambda found: found[0]({args}, *found[1]))(dovetail.closure_convert({f}, {args}))",
    "dovetail.jit({f}, keep_unused=True)({args})",
    "dovetail.checkpoint({f}, policy=dovetail.Budget(200))({args})",
    "dovetail.checkpoint({f}, policy=dovetail.Budget(20))({args})",
    "dovetail.jit({f})({args})",
    "dovetail.jit({f}, inline=True)({args})",
    "dovetail.checkpoint({f})({args})",
    "dovetail.checkpoint({f}, prevent_cse=False)({args})",
    "dovetail.checkpoint({f}, policy=dovetail.checkpoint_policies.dots_saveable)({args})",
    "dovetail.checkpoint({f}, policy=dovetail.checkpoint_policies.everything_saveable)({args})",
    "dovetail.checkpoint({f}, policy=dovetail.checkpoint_policies"
    ".save_only_these_names('kept'))({args})",
]


def call(s: Scope, fill: Fill) -> None:
    names = _operands(s)
    inner, _ = region(s, fill, [s.values[n] for n in names])
    outs = _any_results(s, inner)
    args = _list(range(len(names)))
    text = s.rng.choice(_CALLS).replace("{args}", args)
    kind = next(k for k in ("jit", "checkpoint", "closure_convert") if k in text)
    s.add(kind, text, f"{{f}}({args})", *names, regions=(inner.program(*outs),), results=len(outs))


# --- branches -------------------------------------------------------------------------------------


def branch(s: Scope, fill: Fill) -> None:
    names = _operands(s)
    values = [s.values[n] for n in names]
    how = {"without": frozenset({"in branch"})}
    first, _ = region(s, fill, values, **how)
    outs = _any_results(s, first)
    types = [type_of(first.values[o]) for o in outs]
    regions = [first.program(*outs)]
    many = s.rng.random() < 0.3
    for _ in range(2 if many else 1):
        other, _ = region(s, fill, values, **how)
        regions.append(other.program(*[_typed(other, t) for t in types]))
    args = _list(range(1, len(names) + 1))
    if many:
        i = s.pick(lambda x: x.dtype.name == "int32" and x.ndim == 0)
        ours = f"lax.switch({{0}}, [{{f}}, {{g}}, {{h}}], {args})"
        numpy = f"[{{f}}, {{g}}, {{h}}][min(max(int({{0}}), 0), 2)]({args})"
    else:
        i = s.pick(lambda x: x.ndim == 0 and kind_of(x.dtype) in "bfi")
        test = "{0}" if s.values[i].dtype == bool else "{0} > 0"
        ours = f"lax.cond({test}, {{f}}, {{g}}, {args})"
        numpy = f"({{f}} if {test} else {{g}})({args})"
    s.add("cond", ours, numpy, i, *names, regions=tuple(regions), results=len(outs))


def _typed(inner: Scope, t: Type) -> str:
    result = [n for n in inner.own() if with_type(t)(inner.values[n])]
    if result:
        return result[-1]
    text = f"np.full({t.shape}, 2).astype(np.dtype({t.dtype!r}))"
    (base,) = inner.add("constant", f"dnp.asarray({text})", text)
    if kind_of(t.dtype) in "fc":
        return blend(inner, base)
    return base


# --- loops ----------------------------------------------------------------------------------------


def scan(s: Scope, fill: Fill) -> None:
    carry = _carry(s)
    n = s.rng.choice([2, 3])
    xs = []
    for _ in range(s.rng.choice([0, 1, 1, 2])):
        result = [v for v, x in s.values.items() if x.ndim and x.shape[0] == n]
        xs += [s.rng.choice(result)] if result else []
    values = [s.values[c] for c in carry]
    inner, params = region(s, fill, [*values, *(s.values[x][0] for x in xs)])
    outs = [result_like(inner, p) for p in params[: len(carry)]]
    ys = [s.rng.choice(inner.own())] if s.rng.random() < 0.6 else []
    k, reverse = len(carry), s.rng.random() < 0.3
    cs, slices = _list(range(k)), _list(range(k, k + len(xs))) + ","[: len(xs)]
    options = f"length={n}, reverse={reverse}"
    options += s.rng.choice([""] * 5 + [", unroll=2", ", unroll=True", *_SCHEMES])
    ours = (
        f"joined(lax.scan(lambda c, x: halves({{f}}(*c, *x), {k}), ({cs},), ({slices}), {options}))"
    )
    numpy = f"scan_numpy({{f}}, ({cs},), ({slices}), {n}, {reverse})"
    regions = (inner.program(*outs, *ys),)
    s.add("scan", ours, numpy, *carry, *xs, regions=regions, results=k + len(ys))


_SCHEMES = [
    ", checkpoint=dovetail.Binomial(1)",
    ", checkpoint=dovetail.Periodic(2)",
    ", checkpoint=dovetail.Online(2)",
]


def _carry(s: Scope) -> list[str]:
    names = [s.like("fc")] if any(kind_of(x.dtype) in "fc" for x in s.values.values()) else []
    names += [s.pick() for _ in range(s.rng.choice([0, 0, 1]))]
    return list(dict.fromkeys(names)) or [s.pick()]


def fori(s: Scope, fill: Fill) -> None:
    """A loop with bounds that are known; or computed, and then without a reverse mode."""
    names = _carry(s)
    dynamic = "irreversible" not in s.flags and s.rng.random() < 0.3
    values = [np.asarray(0, np.int32), *(s.values[n] for n in names)]
    inner, params = region(s, fill, values)
    outs = [result_like(inner, p) for p in params[1:]]
    cs, k = _list(range(len(names))), len(names)
    upper, args = "3", list(names)
    if dynamic:
        args.append(s.pick(lambda x: x.dtype.name == "int32" and x.ndim == 0))
        upper = f"{{{k}}} % 4"
    options = "" if dynamic else s.rng.choice([""] * 3 + [", unroll=2", *_SCHEMES])
    lower = "1" if not dynamic else s.rng.choice(["0", "1"])
    ours = (
        f"lax.fori_loop({lower}, {upper}, lambda i, c: {{f}}(dnp.int32(i), *c), ({cs},){options})"
    )
    numpy = f"repeat_numpy({{f}}, {lower}, {upper}, ({cs},))"
    kind = "while" if dynamic else "fori"
    s.add(kind, ours, numpy, *args, regions=(inner.program(*outs),), results=k)


def while_loop(s: Scope, fill: Fill) -> None:
    """A loop that counts, and may stop before by a condition on its state."""
    if "irreversible" in s.flags:
        raise Rejected
    names = _carry(s)
    values = [np.asarray(0, np.int32), *(s.values[n] for n in names)]
    inner, params = region(s, fill, values)
    outs = [result_like(inner, p) for p in params[1:]]
    test, tested = region(s, lambda t: None, values)
    text = "{1}.sum() < 2" if kind_of(values[1].dtype) in "fi" else "{0} < 2"
    (holds,) = test.add("comparison", text, text, *tested[:2])
    cs = _list(range(len(names)))
    scheme = s.rng.random() < 0.4
    more = ", checkpoint=dovetail.Online(2)" if scheme else ""
    ours = (
        "lax.while_loop(lambda c: (c[0] < 3) & {g}(*c)[0], lambda c: (c[0] + 1, *{f}(*c)), "
        f"(np.int32(0), {cs}){more})"
    )
    numpy = f"while_numpy({{g}}, {{f}}, (np.int32(0), {cs}))"
    regions = (inner.program(*outs), test.program(holds))
    kind = "online while" if scheme else "while"
    s.add(kind, ours, numpy, *names, regions=regions, results=len(names) + 1)


def mapped(s: Scope, fill: Fill) -> None:
    """vmap and lax.map as steps."""
    n = s.rng.choice([2, 3])
    names = [s.pick(lambda x: n in x.shape)]
    names += [s.pick() for _ in range(s.rng.choice([0, 1]))]
    names = list(dict.fromkeys(names))
    axes: list[int | None] = []
    for k, name in enumerate(names):
        places = [i for i, m in enumerate(s.values[name].shape) if m == n]
        axes.append(s.rng.choice(places) if k == 0 else s.rng.choice([*places, None]))
    values = [
        s.values[v] if ax is None else np.take(s.values[v], 0, ax) for v, ax in zip(names, axes)
    ]
    inner, _ = region(s, fill, values, without=frozenset({"cond writes"}))
    outs = _any_results(s, inner)
    args = _list(range(len(names)))
    ours = f"dovetail.vmap({{f}}, {tuple(axes)})({args})"
    if all(ax == 0 for ax in axes) and s.rng.random() < 0.3:
        ours = f"lax.map(lambda x: {{f}}(*x), ({args},))"
    numpy = f"each_numpy({{f}}, {tuple(axes)}, ({args},))"
    regions = (inner.program(*outs),)
    s.add("vmap", ours, numpy, *names, regions=regions, results=len(outs))


# --- custom rules ---------------------------------------------------------------------------------

_MAPS = "dovetail.vmap({f}, [0 if b else None for b in batched])(*args)"
_CUSTOM = {
    "custom_jvp": [
        "{r} = dovetail.custom_jvp({f})",
        "{r}.defjvp(lambda primals, tangents: dovetail.jvp({f}, primals, tangents))",
    ],
    "custom_vjp": [
        "{r} = dovetail.custom_vjp({f})",
        "{r}.defvjp(lambda *a: ({f}(*a), a), lambda a, ct: dovetail.vjp({f}, *a)[1](ct))",
    ],
    "custom_vjp of residuals": [
        "{r} = dovetail.custom_vjp({f})",
        "{r}.defvjp(lambda *a: dovetail.vjp({f}, *a), lambda pull, ct: pull(ct))",
    ],
    "custom_gradient": [
        "{r} = dovetail.custom_gradient("
        "lambda *a: (lambda y, pull: (y, lambda ct: pull(ct)))(*dovetail.vjp({f}, *a)))",
    ],
    "custom_vmap": [
        "{r} = dovetail.custom_batching.custom_vmap({f})",
        "{r}.def_vmap(lambda n, batched, *args: (" + _MAPS + ", (True,) * {n}))",
    ],
    "sequential_vmap": ["{r} = dovetail.custom_batching.sequential_vmap({f})"],
    "custom_dce": [
        "{r} = dovetail.custom_dce({f})",
        "{r}.def_dce(lambda used, *a: tuple([y if u else None for u, y in zip(used, {f}(*a))]))",
    ],
    "custom": [
        "{r} = dovetail.custom({f})",
        "{r}.def_jvp(lambda primals, tangents: dovetail.jvp({f}, primals, tangents))",
        "{r}.def_vmap(lambda n, batched, *args: (" + _MAPS + ", (True,) * {n}))",
    ],
    "custom lin": [
        "{r} = dovetail.custom({f})",
        "{r}.def_lin(lambda *a: dovetail.linearize({f}, *a))",
    ],
}


def custom(s: Scope, fill: Fill) -> None:
    names = [n for n in _operands(s) if smooth(s.values[n])] or [s.pick(smooth)]
    without = frozenset({"irreversible", "cond writes"})
    inner, _ = region(s, fill, [s.values[n] for n in names], closed=True, without=without)
    own = [n for n in inner.own() if smooth(inner.values[n])]
    outs = list(dict.fromkeys([own[-1], s.rng.choice(own)]))
    kind = s.rng.choice(list(_CUSTOM))
    if "complex" in s.flags or any(s.values[n].dtype.kind == "c" for n in names):
        kind = s.rng.choice(["custom_jvp", "custom_vjp", "custom_dce"])
    args = _list(range(len(names)))
    lines = [line.replace("{n}", str(len(outs))) for line in _CUSTOM[kind]]
    ours = "\n".join([*lines, f"{{r}}({args})"])
    regions = (inner.program(*outs),)
    s.add(kind, ours, f"{{f}}({args})", *names, regions=regions, results=len(outs))


# --- derivatives inside ---------------------------------------------------------------------------


def derivative(s: Scope, fill: Fill) -> None:
    """A derivative as a step; NumPy's is a finite difference."""
    a = s.pick(lambda x: x.dtype.name == "float64" and x.size < 7)
    without = frozenset({"irreversible", "derivative", "farthest", "complex"})
    inner, _ = region(s, fill, [s.values[a]], without=without)
    out = [n for n in inner.own() if inner.values[n].dtype.name == "float64"][-1]
    regions = (inner.program(out),)
    numpy = "(0.1 * gradient_numpy({f}, {0}),)"
    if s.rng.random() < 0.5:
        ours = "(0.1 * dovetail.grad(lambda x: {f}(x)[0].sum())({0}),)"
    elif s.rng.random() < 0.5:
        ours = "dovetail.vjp({f}, {0})[1]((0.1 * dnp.ones_like({f}({0})[0]),))"
    else:
        way = s.rng.choice(
            ["dovetail.jvp({f}, ({0},), (dnp.cos({0}),))[1]",
             "dovetail.linearize({f}, {0})[1](dnp.cos({0}))"]
        )  # fmt: skip
        ours, numpy = way, "directional_numpy({f}, [{0}], [np.cos({0})])"
    s.add("derivative", ours, numpy, a, regions=regions, error=DIFFERENCE_ERROR)


def solved(s: Scope, fill: Fill) -> None:
    """Equations solved, and differentiated by custom_root and custom_linear_solve."""
    a = s.pick(lambda x: x.dtype.name == "float64")
    inner, (p,) = region(s, fill, [s.values[a]], without=frozenset({"irreversible"}))
    out = result_like(inner, p)
    ours, numpy = s.rng.choice(_SOLVED)
    s.add("solve", ours, numpy, a, regions=(inner.program(out),))


_SOLVED = [
    (  # 2 x + sin(f(a)) = 0 has a solution that is known
        "(lax.custom_root(lambda x: 2 * x + dnp.sin({f}({0})[0]), dnp.zeros_like({0}), "
        "lambda g, x: x - g(x) / 2, lambda g, y: y / 2),)",
        "(-0.5 * np.sin({f}({0})[0]),)",
    ),
    (
        "(lax.custom_linear_solve(lambda x: (2 + dnp.sin({0})) * x, {f}({0})[0], "
        "lambda mv, b: b / (2 + dnp.sin({0})), lambda vm, b: b / (2 + dnp.sin({0}))),)",
        "({f}({0})[0] / (2 + np.sin({0})),)",
    ),
]

STEPS: list[tuple[int, Callable[[Scope, Fill], None]]] = [
    (5, call),
    (4, branch),
    (5, scan),
    (3, fori),
    (2, while_loop),
    (3, mapped),
    (6, custom),
    (2, derivative),
    (1, solved),
]
