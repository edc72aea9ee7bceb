"""Functions nested in themselves, and how many calls of Python's functions something takes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import dovetail
import dovetail.numpy as dnp
from dovetail import lax

Function = Callable[[Any], Any]


def cond(f: Function) -> Function:
    return lambda x: lax.cond(x > 0, lambda x: f(x) * 0.5, lambda x: x, x)


def switch(f: Function) -> Function:
    def index(x: Any) -> Any:
        return lax.convert_element_type(x > 0, "int32")

    return lambda x: lax.switch(index(x), [lambda x: x, lambda x: f(x) * 0.5, lambda x: -x], x)


def while_loop(f: Function) -> Function:
    def once(state: Any) -> Any:
        return state[0] + 1, f(state[1]) * 0.5

    return lambda x: lax.while_loop(lambda s: s[0] < 1, once, (0, x))[1]


def fori_loop(f: Function) -> Function:
    return lambda x: lax.fori_loop(0, 1, lambda i, c: f(c) * 0.5, x)


def scan(f: Function) -> Function:
    return lambda x: lax.scan(lambda c, _: (f(c) * 0.5, None), x, None, length=1)[0]


def jit(f: Function) -> Function:
    return dovetail.jit(lambda x: f(x) * 0.5)


def checkpoint(f: Function) -> Function:
    return dovetail.checkpoint(lambda x: f(x) * 0.5)


def custom_jvp(f: Function) -> Function:
    g = dovetail.custom_jvp(lambda x: f(x) * 0.5)
    g.defjvp(lambda primals, tangents: (g(*primals), tangents[0] * 0.5))
    return g


def custom_vjp(f: Function) -> Function:
    g = dovetail.custom_vjp(lambda x: f(x) * 0.5)
    g.defvjp(lambda x: (g(x), None), lambda _, ct: (ct * 0.5,))
    return g


CONSTRUCTS = (
    cond, switch, while_loop, fori_loop, scan, jit, checkpoint, custom_jvp, custom_vjp
)  # fmt: skip


def nested(construct: Callable[[Function], Function], depth: int) -> Function:
    """``sin`` within a construct, within another one, and so on."""
    f: Function = dnp.sin
    for _ in range(depth):
        f = construct(f)
    return f


def calls(run: Callable[[], Any]) -> int:
    """How many calls of functions written in Python ``run()`` takes."""
    count = 0

    def profile(frame: Any, event: str, arg: Any) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(before)
    return count
