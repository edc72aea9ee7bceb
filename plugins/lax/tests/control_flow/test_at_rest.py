"""Loops and branches at rest: traced once, and again where what functions are made of changes."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple
from unittest import TestCase
from weakref import ref

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_backends import device_put
from dovetail_base.options import disable_jit
from dovetail_callbacks import pure_callback
from dovetail_core import UnexpectedTracerError, enable_x64, get_trace
from dovetail_custom_rules import custom_jvp
from dovetail_jit import jit
from dovetail_jit.trace_cache import eager_calls
from dovetail_jit.trace_cache.fingerprints import fingerprint_of, is_current
from dovetail_numpy import asarray, ones
from dovetail_random import key, normal, split

XS = np.arange(4, dtype=np.float32)
SCALE = 2.0


class Count:
    """How often functions were traced."""

    def __init__(self) -> None:
        self.now = 0


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> Iterator[Count]:
    """Counts what is traced to be remembered, unseen by the functions that are traced."""
    count, before = Count(), eager_calls.stage

    def counted(*args: Any) -> Any:
        count.now += 1
        return before(*args)

    monkeypatch.setattr(eager_calls, "stage", counted)
    return count


def step(c: Any, x: Any) -> Any:
    return c + SCALE * x, c


def inc(x: Any) -> Any:
    return x + 1


def dec(x: Any) -> Any:
    return x - 1


def low(x: Any) -> Any:
    return x < 5


def add(i: Any, x: Any) -> Any:
    return x + i


CALLS: dict[str, Callable[[], Any]] = {
    "scan": lambda: lax.scan(step, 0.5, XS),
    "scan without xs": lambda: lax.scan(lambda_like, 0.5, None, length=3),
    "cond": lambda: lax.cond(asarray(True), inc, dec, 1.5),
    "cond of a number": lambda: lax.cond(2, inc, dec, 1),
    "switch": lambda: lax.switch(7, [inc, dec, inc], asarray(1.5)),
    "while_loop": lambda: lax.while_loop(low, inc, 0),
    "fori_loop": lambda: lax.fori_loop(0, 4, add, 0.5),
    "platform_dependent": lambda: lax.platform_dependent(XS, cpu=inc, default=dec),
}


def lambda_like(c: Any, _: Any) -> Any:
    return c * 2, None


def described(tree: Any) -> Any:
    if isinstance(tree, (tuple, list)):
        return [described(x) for x in tree]
    return tree if tree is None else (tree.aval, np.asarray(tree).tolist(), tree.committed)


@pytest.mark.parametrize("name", CALLS)
def test_calls_are_traced_once_and_give_what_a_traced_call_gives(name: str, traces: Count) -> None:
    call = CALLS[name]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(eager_calls, "fingerprint_of", lambda functions: None)
        wanted = described(call())
    traces.now = 0
    assert [described(call()) for _ in range(3)] == [wanted] * 3
    assert traces.now <= 1
    assert described(jit(call)()) == wanted


def test_types_structures_and_options_are_told_apart(traces: Count) -> None:
    def body(c: Any, x: Any) -> Any:
        return c + x, c

    def run(init: Any, **options: Any) -> Any:
        return described(lax.scan(body, init, XS, **options))

    kinds = [
        lambda: run(np.float32(1)), lambda: run(1.0), lambda: run(1), lambda: run(ones(4)),
        lambda: run(ones((2, 4))), lambda: run(1.0, reverse=True),
        lambda: run(1.0, unroll=True), lambda: run(1.0, unroll=2),
    ]  # fmt: skip
    first = [f() for f in kinds]
    assert traces.now == len(kinds)
    assert [f() for f in kinds] == first
    assert traces.now == len(kinds)
    assert first[0][0][0].weak_type is False and first[5] != first[1]
    assert first[1] == first[6] == first[7]


def test_a_mode_of_types_is_told_apart() -> None:
    def body(i: Any, x: Any) -> Any:
        return x + i

    narrow = lax.fori_loop(0, 3, body, 1)
    with enable_x64(True):
        wide = lax.fori_loop(0, 3, body, 1)
    assert (str(narrow.dtype), str(wide.dtype)) == ("int32", "int64")
    assert lax.fori_loop(0, 3, body, 1).dtype == narrow.dtype


def test_what_functions_change_themselves_is_done_once() -> None:
    count = 0

    def counting(c: Any, x: Any) -> Any:
        nonlocal count
        count += 1
        return c + x, c

    for _ in range(3):
        lax.scan(counting, 1.0, XS)
    assert count == 1
    count = 7  # its own affair, whoever changes it
    lax.scan(counting, 1.0, XS)
    assert count == 7


def test_changes_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    held = 1.0

    def helper(x: Any) -> Any:
        return x * held

    def body(i: Any, x: Any, more: Any = 0.0, *, option: Any = 0.0) -> Any:
        return helper(x) + SCALE + more + option

    def run() -> float:
        return float(lax.fori_loop(0, 1, body, 1.0))

    assert run() == run() == 3.0
    held = 3.0  # what a function closes over that it closes over
    assert run() == 5.0
    monkeypatch.setitem(globals(), "SCALE", 4.0)
    assert run() == 7.0
    body.__defaults__ = (1.0,)
    assert run() == 8.0
    body.__kwdefaults__ = {"option": 2.0}
    assert run() == 10.0
    body.__kwdefaults__["option"] = 3.0
    assert run() == 11.0
    monkeypatch.setattr(helper, "__code__", (lambda x: held + x).__code__)
    assert run() == 12.0


def test_another_function_beside_is_seen() -> None:
    def first(x: Any) -> Any:
        return x + 10

    assert float(lax.cond(True, first, dec, 1.0)) == 11
    for n in range(3):  # as likely as not where the one before was
        assert float(lax.cond(False, first, lambda x, n=n: x + n, 1.0)) == 1 + n
    assert float(lax.while_loop(lambda x: x < 3, inc, 0.0)) == 3
    assert float(lax.while_loop(lambda x: x < 5, inc, 0.0)) == 5


class Model:
    def __init__(self) -> None:
        self.scale = 1.0


def test_changes_of_what_containers_and_objects_hold_are_seen(traces: Count) -> None:
    scales, table, model, array = [1.0], {"scale": (1.0, [0])}, Model(), np.ones(())
    nested = [Model(), (model, {"m": model})]

    def of_list(c: Any, _: Any) -> Any:
        return c + scales[0], None

    def of_dict(c: Any, _: Any) -> Any:
        return c + table["scale"][0], None

    def of_object(c: Any, _: Any) -> Any:
        return c + nested[1][1]["m"].scale, None  # type: ignore[index]

    def of_array(c: Any, _: Any) -> Any:
        return c + array, None

    bodies = (of_list, of_dict, of_object, of_array, Scaling(model), partial(scaled, model=model))
    for count in (len(bodies), len(bodies)):
        for f in bodies:
            assert float(lax.scan(f, 0.0, None, 1)[0]) == 1
        assert traces.now == count
    scales[0] = model.scale = 2.0
    table["scale"] = (2.0, [0])
    array[...] = 2.0
    for f in bodies:
        assert float(lax.scan(f, 0.0, None, 1)[0]) == 2
    assert traces.now == 2 * len(bodies)
    assert fingerprint_of([model.__init__]) is not None and fingerprint_of([math.sin]) is not None


class Scaling:
    def __init__(self, model: Model) -> None:
        self.model = model

    def __call__(self, c: Any, _: Any) -> Any:
        return c + self.model.scale, None


def scaled(c: Any, _: Any, model: Model) -> Any:
    return c + model.scale, None


class Slotted:
    __slots__ = ("scale",)

    def __init__(self) -> None:
        self.scale = 1.0


class Pair(NamedTuple):
    a: Any
    b: Any


def test_objects_with_slots_and_named_tuples_are_seen() -> None:
    slotted, unset, pair = Slotted(), Slotted(), Pair([1], 2)
    del unset.scale

    def f() -> Any:
        return slotted, unset, pair

    known = fingerprint_of([f])
    assert known is not None and is_current(known, [f])
    slotted.scale = 2.0
    assert not is_current(known, [f])
    slotted.scale = 1.0
    assert is_current(known, [f])
    pair.a[0] = 2
    assert not is_current(known, [f])


def test_what_can_change_unseen_is_traced_each_time(traces: Count) -> None:
    numbers, large, circular = iter(range(9)), np.ones(1 << 14), list[Any]()
    circular.append(circular)

    def of_iterator(c: Any, _: Any) -> Any:
        return c + next(numbers), None

    def of_array(c: Any, _: Any) -> Any:
        return c + large[0], None

    def of_itself(c: Any, _: Any) -> Any:
        return c + (1 if circular else 0), None

    for f in (of_iterator, of_array, of_itself):
        lax.scan(f, 0.0, None, 1)
        assert fingerprint_of([f]) is None
    assert float(lax.scan(of_iterator, 0.0, None, 1)[0]) == 1
    large[...] = 2.0
    assert float(lax.scan(of_array, 0.0, None, 1)[0]) == 2
    assert traces.now == 0


def test_a_test_is_taken_by_what_its_attributes_are() -> None:
    case = TestCase()

    def f() -> Any:
        case.assertTrue(case)

    case.rest = iter(())  # type: ignore[attr-defined]
    known = fingerprint_of([f])
    assert known is not None and is_current(known, [f])
    case.rest = 1  # type: ignore[attr-defined]
    assert not is_current(known, [f])


def test_functions_and_what_they_close_over_are_let_go() -> None:
    def run() -> list[Any]:
        held = ones(3)

        def helper(x: Any) -> Any:
            return x + held

        def body(c: Any, _: Any) -> Any:
            return (body and helper)(c), None

        for _ in range(2):
            lax.scan(body, held, None, length=2)
            lax.cond(True, helper, helper, held)
        return [ref(held), ref(helper), ref(body)]

    left = run()
    gc.collect()
    assert [r() for r in left] == [None] * 3


def test_one_function_closes_over_itself() -> None:
    def body(c: Any, _: Any) -> Any:
        return c + (1.0 if body else 0.0), None

    known = fingerprint_of([body])
    assert known is not None and is_current(known, [body])
    assert float(lax.scan(body, 0.0, None, 3)[0]) == float(lax.scan(body, 0.0, None, 3)[0]) == 3


def test_not_yet_bound_and_too_many() -> None:
    def early() -> Any:
        return late

    assert fingerprint_of([early]) is None
    late = 1
    assert fingerprint_of([early]) is not None and late
    names = {f"v{n}": n for n in range(500)}
    f = eval(f"lambda: ({', '.join(names)})", names)
    assert fingerprint_of([f]) is None


def test_results_that_are_operands_are_these() -> None:
    def first(x: Any, y: Any) -> Any:
        return x, x + y

    x, y = asarray(XS), asarray(XS)
    for _ in range(2):
        kept, added = lax.cond(True, first, first, x, y)
        assert kept is x and added is not y
    kept, _ = lax.cond(True, first, first, 1.0, 2.0)
    assert kept.aval.weak_type and float(kept) == 1


def test_deleted_operands_are_named() -> None:
    def body(c: Any, _: Any) -> Any:
        return c + 1, None

    x = ones(3)
    lax.scan(body, x, None, 2)
    x.delete()
    for _ in range(2):
        with pytest.raises(RuntimeError, match="deleted"):
            lax.scan(body, x, None, 2)


def test_results_are_where_operands_are() -> None:
    import dovetail_backends

    def body(c: Any, _: Any) -> Any:
        return c + 1, None

    device = dovetail_backends.devices()[0]
    for _ in range(2):
        assert lax.scan(body, device_put(1.0, device), None, 2)[0].committed
        assert not lax.scan(body, asarray(1.0), None, 2)[0].committed


def test_errors_stay() -> None:
    def changes(c: Any, _: Any) -> Any:
        return (c, c), None

    def fails(c: Any, _: Any) -> Any:
        raise KeyError("mine")

    for _ in range(2):
        with pytest.raises(TypeError, match="must have one structure"):
            lax.scan(changes, 0.0, None, 2)
        with pytest.raises(KeyError, match="mine"):
            lax.scan(fails, 0.0, None, 2)
        with pytest.raises(TypeError, match="operands"):
            lax.cond(True, inc, dec, "text")
    kept: list[Any] = []
    jit(lambda x: kept.append(x) or x)(1.0)

    def leaks(c: Any, _: Any) -> Any:
        return c + kept[0], None

    for _ in range(2):
        with pytest.raises(UnexpectedTracerError):
            lax.scan(leaks, 0.0, None, 2)
        with pytest.raises(UnexpectedTracerError):
            lax.scan(step, kept[0], XS)


def test_custom_rules_and_callbacks_within() -> None:
    @custom_jvp
    def double(x: Any) -> Any:
        return x * 2

    double.defjvp(lambda p, t: (double(*p), t[0] * 2))

    def body(c: Any, _: Any) -> Any:
        return pure_callback(lambda x: np.float32(x) + 1, c, c), None

    for _ in range(3):
        assert float(lax.fori_loop(0, 3, lambda i, x: double(x), np.float32(1))) == 8
        assert float(lax.scan(body, np.float32(1), None, 2)[0]) == 3


def test_typed_keys_are_carried() -> None:
    def body(k: Any, _: Any) -> Any:
        k, own = split(k)
        return k, normal(own)

    wanted, k = [], key(0)
    for _ in range(3):
        k, own = split(k)
        wanted.append(float(normal(own)))
    for _ in range(2):
        assert lax.scan(body, key(0), None, 3)[1].tolist() == pytest.approx(wanted)


def test_without_jit_functions_run_as_they_are() -> None:
    seen: list[Any] = []

    def body(c: Any, x: Any) -> Any:
        seen.append(get_trace())
        return c + x, c

    with disable_jit(True):
        lax.scan(body, 0.0, XS)
    assert len(seen) == len(XS)
