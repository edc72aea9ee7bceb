"""Bad input to checkpointed loops: each error names the thing, the place and the remedy."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_core import IOEffect, OrderedIOEffect, Primitive
from dovetail_jit import jit
from dovetail_refs import new_ref
from dovetail_remat import Binomial, Online, Periodic

X = np.float32(0.5)
shout_p = Primitive("loops_test.shout")


@shout_p.def_effectful_abstract_eval
def _shout_type(x: Any, *, ordered: bool) -> Any:
    return x, {OrderedIOEffect("shout") if ordered else IOEffect("shout")}


def looped(scheme: Any, step: Any = lambda i, c: lax.sin(c), n: Any = 4) -> Any:
    return lax.fori_loop(0, n, step, X, checkpoint=scheme)


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: Binomial(snapshots=0), ValueError,
         "Binomial(snapshots=0): snapshots, the number of carries to keep, must be at least 1"),
        (lambda: Online(snapshots=-3), ValueError,
         "Online(snapshots=-3): snapshots, the number of carries to keep, must be at least 1"),
        (lambda: Periodic(every=0), ValueError,
         "Periodic(every=0): every, the number of steps from one kept carry to the next, must be "
         "at least 1"),
        (lambda: Binomial(snapshots=2.5), TypeError,
         "Binomial(snapshots=2.5): snapshots, the number of carries to keep, must be an integer "
         "that is known while tracing, got float"),
        (lambda: Periodic(every=True), TypeError, "must be an integer that is known while"),
        (lambda: jit(lambda n: looped(Binomial(n)))(3), TypeError,
         "must be an integer that is known while tracing, got"),
    ],
)  # fmt: skip
def test_numbers_that_are_none(make: Any, error: Any, said: str) -> None:
    with pytest.raises(error, match=re.escape(said)):
        make()


@pytest.mark.parametrize("scheme", [5, "binomial", Binomial, True])
def test_what_is_not_a_scheme(scheme: Any) -> None:
    said = (
        r"fori_loop at .*test_errors.py.*: checkpoint must be a scheme \(Binomial\(snapshots=...\)"
        rf", Online\(snapshots=...\) or Periodic\(every=...\)\), got .* of type "
        rf"{type(scheme).__name__}"
    )
    with pytest.raises(TypeError, match=said):
        looped(scheme)
    with pytest.raises(TypeError, match=r"scan.*: checkpoint must be a scheme"):
        lax.scan(lambda c, x: (c, x), X, np.arange(3.0), checkpoint=scheme)
    with pytest.raises(TypeError, match=r"while_loop.*: checkpoint must be a scheme"):
        lax.while_loop(lambda c: c < 0, lambda c: c, X, checkpoint=scheme)


@pytest.mark.parametrize("scheme", [Binomial(3), Periodic(2)])
def test_loops_of_unknown_length_need_online(scheme: Any) -> None:
    said = (
        rf"while_loop at .*test_errors.py.*: {re.escape(repr(scheme))} needs to know the number of "
        r"steps while tracing, which this loop does not say\. Use Online\(snapshots=\.\.\.\), or "
        r"scan or fori_loop with bounds that are known"
    )
    with pytest.raises(ValueError, match=said):
        lax.while_loop(lambda c: c < 9, lambda c: lax.add(c, X), X, checkpoint=scheme)
    with pytest.raises(ValueError, match=r"fori_loop.* needs to know the number of steps"):
        jit(lambda n: looped(scheme, n=n))(3)


@pytest.mark.parametrize("ordered", [False, True])
def test_effects_that_cannot_be_replayed(ordered: bool) -> None:
    def step(i: Any, c: Any) -> Any:
        return shout_p.bind(c, ordered=ordered)

    said = (
        r"fori_loop at .*test_errors.py.*: step has an effect that cannot be replayed, "
        r".*IOEffect\(name='shout'\), and a checkpointed loop runs its steps more than once\. Use "
        r"nothing that the operation returns, take it out of functions with derivative rules"
    )
    with pytest.raises(ValueError, match=said):
        looped(Binomial(2), step)
    with pytest.raises(ValueError, match="has an effect that cannot be replayed"):
        jit(lambda: looped(Online(2), step))()


def test_a_carry_that_holds_references() -> None:
    def body(carry: Any) -> Any:
        return lax.add(carry[0], X), carry[1]

    said = (
        r"while_loop: carry\[1\] is Ref\{f32\[\]\} at .*test_errors.py.*, which is mutable and "
        r"cannot be a loop's carry\. Let the function close over it"
    )
    with pytest.raises(TypeError, match=said):
        lax.while_loop(lambda c: c[0] < 3, body, (X, new_ref(X)), checkpoint=Online(2))


def test_a_loop_that_is_too_long() -> None:
    with pytest.raises(ValueError, match=r"takes at most 1073741823 steps, not 1073741824\. Nest"):
        looped(Binomial(3), n=2**30)


def test_without_the_plugin_a_message_says_which_one_is_needed() -> None:
    code = (
        "import dovetail_lax as lax\n"
        "try:\n"
        "    lax.fori_loop(0, 3, lambda i, c: c, 1.0, checkpoint=object())\n"
        "except Exception as e:\n"
        "    print(type(e).__name__, e)\n"
        "print(lax.fori_loop(0, 3, lambda i, c: c, 1.0))\n"
    )
    env = {**os.environ, "DOVETAIL_DISABLE_PLUGINS": "remat"}
    out = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    ).stdout
    assert out.startswith(
        "PluginError fori_loop(checkpoint=...) needs a plugin that provides 'loop_checkpointing': "
        "install or enable the plugin 'remat' (DOVETAIL_PLUGINS, DOVETAIL_DISABLE_PLUGINS), or "
        "leave out checkpoint=. Set aside: "
    )
    assert "remat (disabled (DOVETAIL_DISABLE_PLUGINS))" in out
    assert out.endswith("1.0\n")


def test_a_reference_for_a_derivative_rule_is_refused() -> None:
    from dovetail_custom_rules import custom_vjp

    stash = new_ref(X)
    keep = custom_vjp(lambda x, ref: x)

    def backward(ref: Any, ct: Any) -> Any:
        ref[...] = ct
        return ct, None

    keep.defvjp(lambda x, ref: (x, ref), backward)
    said = (
        r"fori_loop at .*: the body gives Ref\{f32\[\]\} to a function whose derivative rule may"
        r" use it.*cannot write to references: return what the rule wants to keep, or leave check"
    )
    with pytest.raises(TypeError, match=said):
        looped(Binomial(2), lambda i, c: keep(lax.sin(c), stash))
