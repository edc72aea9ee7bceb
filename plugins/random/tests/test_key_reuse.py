"""``debug_key_reuse``: keys that are used twice are found wherever they go, others are let be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
import dovetail_random as random
from dovetail_backends import device_put
from dovetail_base.errors import JAXTypeError
from dovetail_batching import vmap
from dovetail_core import Primitive
from dovetail_jit import jit
from dovetail_random.reuse.analysis import KeyReuseError, debug_key_reuse
from dovetail_random.reuse.table import Uses, reuse_rules

Use = Callable[[Any], Any]
USES: dict[str, Use] = {
    "split": random.split,
    "normal": random.normal,
    "bits": random.bits,
    "gamma": lambda k: random.gamma(k, 2.0),
    "stack": lambda k: dnp.stack([k, k]),
    "jit": jit(lambda k: random.uniform(k)),
}
SPARES: dict[str, Use] = {
    "fold_in": lambda k: random.fold_in(k, 1),
    "key_data": random.key_data,
    "clone": random.clone,
    "equality": lambda k: k == k,
    "identity": jit(lambda k: k),
    "repr": repr,
}


@pytest.fixture(autouse=True)
def looking() -> Any:
    with debug_key_reuse(True):
        yield


@pytest.mark.parametrize("second", USES)
@pytest.mark.parametrize("first", USES)
def test_two_uses(first: str, second: str) -> None:
    key = random.key(1)
    USES[first](key)
    with pytest.raises(KeyReuseError):
        USES[second](key)


@pytest.mark.parametrize("spare", SPARES)
@pytest.mark.parametrize("use", USES)
def test_what_uses_nothing_up(use: str, spare: str) -> None:
    key = random.key(1)
    SPARES[spare](key)
    USES[use](key)
    SPARES[spare](key)


def twice(k: Any) -> Any:
    return random.normal(k) + random.normal(k)


def loop(n: int, body: Any) -> Callable[[Any], Any]:
    return lambda k: lax.fori_loop(0, n, lambda i, s: body(i, s, k), 0.0)


WRONG: dict[str, Use] = {
    "jit": jit(twice),
    "nested": jit(lambda k: jit(random.normal)(k) + jit(random.normal)(k)),
    "vmap": lambda k: vmap(twice)(random.split(k)),
    "scan": lambda k: lax.scan(lambda k, _: (k, random.normal(k)), k, None, length=3),
    "scan, constant": lambda k: lax.scan(lambda c, _: (c, random.normal(k)), 0, None, length=3),
    "while": lambda k: lax.while_loop(
        lambda c: c[0] < 3, lambda c: (c[0] + random.normal(c[1]), c[1]), (0.0, k)
    ),
    "while, condition": lambda k: lax.while_loop(lambda k: random.uniform(k) > 2, lambda k: k, k),
    "fori": loop(3, lambda i, s, k: s + random.normal(k)),
    "cond, then": lambda k: lax.cond(True, random.normal, lambda k: 1.0, k) + random.normal(k),
    "one element": lambda k: (lambda ks: random.normal(ks[0]) + random.normal(ks[0]))(
        random.split(k)
    ),
    "element and all": jit(lambda k: (lambda ks: (ks[1], vmap(random.bits)(ks)))(random.split(k))),
    "returned": lambda k: random.split(jit(lambda k: (random.bits(k), k))(k)[1]),
    "identity": lambda k: (random.bits(jit(lambda k: k)(k)), random.bits(k)),
    "placed": jit(lambda k: (random.bits(device_put(k)), random.bits(k))),
    "carried out": lambda k: random.bits(
        lax.scan(lambda k, _: (k, None), (lambda a: (random.bits(a), a)[1])(k), None, length=2)[0]
    ),
    "rbg": lambda k: twice(random.key(0, impl="rbg")),
}


@pytest.mark.parametrize("case", WRONG)
def test_reuse_is_found(case: str) -> None:
    with pytest.raises(KeyReuseError):
        WRONG[case](random.key(0))


RIGHT: dict[str, Use] = {
    "elements": lambda k: [random.normal(x) for x in random.split(k, 3)],
    "indices": lambda k: (lambda ks: [random.normal(ks[i]) for i in range(3)])(random.split(k, 3)),
    "slices": lambda k: (lambda ks: [vmap(random.bits)(ks[:2]), random.bits(ks[2])])(
        random.split(k, 3)
    ),
    "indices, traced": jit(
        lambda k: (lambda ks: random.normal(ks[0]) + random.normal(ks[-1]))(random.split(k, 3))
    ),
    "branches": lambda k: lax.cond(True, random.normal, random.uniform, k),
    "carried": lambda k: lax.scan(
        lambda k, _: (lambda a, b: (a, random.bits(b)))(*random.split(k)), k, None, length=3
    ),
    "slices of a scan": lambda k: lax.scan(lambda c, k: (c, random.bits(k)), 0, random.split(k, 3)),
    "one iteration": lambda k: lax.scan(lambda c, _: (c, random.bits(k)), 0, None, length=1),
    "folded": loop(3, lambda i, s, k: s + random.normal(random.fold_in(k, i))),
    "clones": lambda k: (random.normal(random.clone(k)), random.normal(k)),
    "raw": lambda k: twice(random.PRNGKey(0)),
    "jitted twice": lambda k: [jit(random.normal)(x) for x in random.split(k)],
}


@pytest.mark.parametrize("case", RIGHT)
def test_other_uses_are_let_be(case: str) -> None:
    RIGHT[case](random.key(0))


def test_message() -> None:
    """It names both uses, their lines and the remedy."""
    key = random.key(0)
    random.normal(key)
    with pytest.raises(KeyReuseError) as caught:
        random.split(key)
    text = str(caught.value)
    assert text.startswith("split at ") and "uses a key that bits used up before at " in text
    assert text.count("test_key_reuse.py:") == 2
    assert text.endswith(
        "what is drawn is not independent. Make a new key for each use (dovetail.random.split, "
        "fold_in), or say that this is meant (dovetail.random.clone)."
    )
    with pytest.raises(KeyReuseError, match=r"^each iteration of scan at .*test_key_reuse.py:"):
        WRONG["scan"](random.key(0))
    with pytest.raises(KeyReuseError, match="uses up the same key, a key from outside"):
        WRONG["scan, constant"](random.key(0))


def test_values_are_the_same_and_off_is_off() -> None:
    with debug_key_reuse(False):
        wanted = np.asarray(twice(random.key(3)))
    key = random.key(3)
    assert np.array_equal(random.normal(key) + random.normal(random.clone(key)), wanted)
    with debug_key_reuse(False):
        assert np.array_equal(twice(key), wanted)


def test_a_rule_of_ones_own() -> None:
    """The author of an operation on keys gives its rule; by default it uses them up."""
    for name, rule in (("reuse_test_peek", lambda *xs, **_: Uses()), ("reuse_test_draw", None)):
        peek = Primitive(name)
        peek.def_abstract_eval(lambda k: k)
        peek.def_traits(moves=True)
        peek.def_decomposition(lambda k: k)
        if rule is not None:
            reuse_rules.register(peek)(rule)
        key = random.key(0)
        run = jit(lambda k, p=peek: (p.bind(k), random.bits(k)))
        if rule is not None:
            run(key)
        else:
            with pytest.raises(KeyReuseError, match=r"bits at .* a key that reuse_test_draw used"):
                run(key)


def test_the_error_is_of_jaxs_class() -> None:
    assert issubclass(KeyReuseError, JAXTypeError)
