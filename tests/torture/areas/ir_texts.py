"""Texts of programs are changed at random: the parser reads them, or raises an IRError."""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

LIMIT = 60.0
BATCH = 100
_TEXTS = 40  # per attack

_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_NUMERALS = "0 -1 1 3 9999999999999999999999 1e400 nan inf -inf nan(0x7fc00001) nan(0x0) 1j".split()
_NUMERALS += ["(1.0+2.0j)", "(inf-nanj)", "1.5", "0x10", "1_000", "True", "9" * 5000, "-0.0"]
_SCRAPS = [*"{}[]()=:;,.!#~@'\"\\\n\t\0", "let", "in", "lambda", "set(", "dtype'f32'", "@os:path"]
_SCRAPS += ["primitive'sin'", "primitive'none'", "read", "#0", "#99999999999", "f32[3]", "i32[]~"]
_SCRAPS += [
    "'\\x'",
    "'\\ud800'",
    "b'\\xff'",
    "b'é'",
    "'\\N{none}'",
    "\udc80",
    "é",
    "𝔘",
    "\u2028",
    "<x>",
]
_SCRAPS += ["f32[99999999999999999999]", "{ lambda ; . let in () }", "(1, 2, [3])", "{1: [2]}"]


def attempt(rng: random.Random, begin: Callable[[str], None]) -> None:
    attacks = [_tokens, _swaps, _nesting, _numerals, _scraps, _pieces, _lines]
    attack = rng.choice(attacks)
    begin(str(attack.__doc__))
    for _ in range(_TEXTS):
        text, constants = rng.choice(_programs())
        _read(attack(rng, text), constants)


def _read(text: str, constants: list[Any]) -> None:
    from dovetail_core import IRError, parse_ir, print_ir, printed_constants

    try:
        result = parse_ir(text, constants)
    except IRError as error:
        assert re.match(r"line \d+, column \d+: ", str(error)), f"{error!r} of\n{text}"
        return
    except BaseException as error:
        raise AssertionError(f"{error!r} of\n{text[:2000]}") from error
    printed = print_ir(result)
    again = print_ir(parse_ir(printed, printed_constants(result)))
    assert again == printed, f"{text}\n--- is printed as\n{printed}\n--- and then as\n{again}"


def _tokens(rng: random.Random, text: str) -> str:
    """words of a text are left out or doubled"""
    tokens = _TOKEN.findall(text)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(tokens))
        tokens[at : at + 1] = rng.choice([[], [tokens[at]] * 2])
        tokens = tokens or [" "]
    return "".join(tokens)


def _swaps(rng: random.Random, text: str) -> str:
    """words of a text change places"""
    tokens = _TOKEN.findall(text)
    for _ in range(rng.randint(1, 3)):
        a, b = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        tokens[a], tokens[b] = tokens[b], tokens[a]
    return "".join(tokens)


def _nesting(rng: random.Random, text: str) -> str:
    """brackets are nested, up to 100,000 deep"""
    places = [m.end() for m in re.finditer(r"[=\[({,]", text)] or [0]
    at, depth = rng.choice(places), rng.choice([3, 50, 200, 1000, 5000, 100_000])
    opening = rng.choice(
        ["(", "[", "{", "set(", "{1: ", "{ lambda ; a:f32[]. let b:f32[] = jit[p="]
    )
    closing = {"(": ")", "[": "]", "{": "}"}.get(opening, "")
    return text[:at] + opening * depth + "1" + closing * rng.choice([0, depth]) + text[at:]


def _numerals(rng: random.Random, text: str) -> str:
    """numbers become others"""
    result = list(re.finditer(r"\d+(\.\d*)?", text))
    for m in rng.sample(result, min(len(result), rng.randint(1, 3))):
        text = text[: m.start()] + rng.choice(_NUMERALS) + text[m.end() :]
    return text


def _scraps(rng: random.Random, text: str) -> str:
    """scraps of syntax, strings and strange characters are put in"""
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(_SCRAPS) + text[at + rng.choice([0, 0, 1, 3]) :]
    return text


def _pieces(rng: random.Random, text: str) -> str:
    """parts of two programs are put together"""
    other, _ = rng.choice(_programs())
    a, b = sorted(rng.randrange(len(text) + 1) for _ in range(2))
    c, d = sorted(rng.randrange(len(other) + 1) for _ in range(2))
    return text[:a] + other[c:d] + text[b:]


def _lines(rng: random.Random, text: str) -> str:
    """lines are left out, doubled, or change places"""
    lines = text.split("\n")
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(lines))
        line = lines.pop(at)
        for _ in range(rng.randint(0, 2)):
            lines.insert(rng.randrange(len(lines) + 1), line)
        lines = lines or [""]
    return "\n".join(lines)


@cache
def _programs() -> list[tuple[str, list[Any]]]:
    """Texts of programs of many kinds, and their constants."""
    warnings.simplefilter("ignore")
    from dovetail_core import print_ir, printed_constants

    programs = [_program(f, *args) for f, *args in _functions()]
    return [(print_ir(p), printed_constants(p)) for p in programs]


def _program(f: Any, *args: Any) -> Any:
    import dovetail

    return dovetail.make_jaxpr(f)(*args)


def _functions() -> list[tuple[Any, ...]]:
    import dovetail as dv
    import dovetail.numpy as jnp
    from dovetail import lax, random as dr

    v, m = jnp.arange(3.0), jnp.ones((3, 3))
    big = jnp.arange(40.0)

    @dv.custom_jvp
    def ruled(x: Any) -> Any:
        return jnp.sin(x)

    ruled.defjvp(lambda primals, tangents: (ruled(*primals), tangents[0]))

    def loop(x: Any) -> Any:
        return lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2.0), (0, x))

    def scanned(x: Any) -> Any:
        return lax.scan(lambda c, a: (c + a, (c, a * 2.0)), jnp.float32(0), x)

    def branches(x: Any) -> Any:
        return lax.switch(1, [jnp.sin, jnp.cos, lambda a: a], x)

    def written(x: Any) -> Any:
        ref = dv.new_ref(x)
        ref[0] = 1.0
        return ref[...]

    return [
        (lambda x: x, v),
        (lambda x: jnp.sin(x) * 2.0 + 1, v),
        (lambda x: (x + big, x.astype("int8")), big),
        (lambda x: x @ x + jnp.array([[1, 2, 3]]), m),
        (lambda x: jnp.where(x > 0, x, jnp.nan), v),
        (lambda x: x[jnp.array([0, 2])].sum(), v),
        (lambda x: x.at[1].set(2.0), v),
        (loop, v),
        (scanned, v),
        (branches, v),
        (dv.grad(lambda x: scanned(x)[0]), v),
        (dv.vmap(loop), m),
        (dv.jit(lambda x: dv.jit(jnp.tanh)(x) + dv.jit(jnp.tanh)(x)), v),
        (ruled, v),
        (dv.grad(lambda x: ruled(x).sum()), v),
        (written, v),
        (dv.checkpoint(lambda x: jnp.sin(jnp.sin(x))), v),
        (lambda x: jnp.linalg.solve(x, x), m),
        (lambda x: jnp.fft.fft(x) * 1j, v),
        (lambda x: lax.conv(x[None, None], x[None, None], (1, 1), "SAME"), m),
        (lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (2,), (1,), "SAME"), v),
        (lambda k: dr.normal(k, (2,)), dr.key(0)),
        (lambda x: jnp.sort(x)[::-1], v),
        (lambda x: dv.pure_callback(lambda a: a, x, x), v),
        (lambda x: lax.cond(x.sum() > 0, jnp.sin, dv.jit(jnp.cos), x), v),
        (lambda x: x.astype("bfloat16") + jnp.bool_(True), v),
    ]
