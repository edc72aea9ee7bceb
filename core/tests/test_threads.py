"""Eight threads at once: types, type rules, tables, traces, options."""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy as np
import pytest

from dovetail_base.options import enable_checks
from dovetail_core import (
    Option,
    Primitive,
    RuleTable,
    ShapedArray,
    axis_env,
    bound_axis,
    config,
    current_source,
    enable_x64,
    named_scope,
    registry,
    stage_closed,
    typeof,
)
from dovetail_testing.toy import add_p, sin_p

THREADS = 8


@pytest.fixture(autouse=True)
def switching():
    """Threads give way to each other after every few instructions."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(work):
    """``work(k)`` in each thread, begun at one moment; the results in order."""
    start, result, errors = threading.Barrier(THREADS), [None] * THREADS, []

    def run(k):
        start.wait(30)
        try:
            result[k] = work(k)
        except BaseException as e:
            errors.append(e)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(THREADS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    if errors:
        raise errors[0]
    return result


def test_a_type_is_made_once():
    for n in range(40):
        rows = together(lambda k, n=n: [ShapedArray((n, i, 77), np.float32) for i in range(10)])
        assert all(a is b for row in rows for a, b in zip(row, rows[0]))


def test_type_rules_agree():
    p = Primitive("test.threads")
    p._memo.most = 16
    p.def_abstract_eval(lambda x, *, n, dtype=None: ShapedArray((n,), dtype or np.float32))
    x = ShapedArray((3,), np.float32)

    def work(k):
        for n in range(200):
            assert p.infer((x,), {"n": n}).avals[0].shape == (n,)
            dtype = np.dtype((np.int32, np.float16)[n % 2])
            assert p.infer((x,), {"n": n, "dtype": dtype}).avals[0].dtype == dtype

    together(work)


def test_a_table_is_filled_once(site):
    for n in range(5):
        name = f"acme{n}"
        site.plugin(name, f"contributes={{'{name}.t': ('{name}_rules',)}}")
        site.module(
            f"{name}_rules",
            f"import time\nimport test_threads_{name} as shared\nshared.count.append(1)\n"
            "time.sleep(0.01)\nshared.table.register(shared.primitive)(lambda: 7)\n",
        )
    for n in range(5):
        module = type(sys)(f"test_threads_acme{n}")
        module.count = []
        module.table = RuleTable(f"acme{n}.t")
        module.primitive = Primitive(f"acme{n}.p")
        sys.modules[module.__name__] = module
        try:
            rules = together(lambda k, m=module: m.table[m.primitive])
        finally:
            del sys.modules[module.__name__]
        assert [r() for r in rules] == [7] * THREADS and len(module.count) == 1


def test_plugins_are_found_once_and_their_types_known_to_all(site):
    site.plugin("acme", "types=('acme_types',)")
    site.module("acme_values", "class Acme: pass\n")
    site.module(
        "acme_types",
        "import time\nfrom dovetail_core import ShapedArray, register_type\n"
        "from acme_values import Acme\ntime.sleep(0.05)\n"
        "register_type(Acme, lambda x: ShapedArray((), 'float32'))\n",
    )
    from acme_values import Acme

    result = together(lambda k: (registry(), typeof(Acme())))
    assert all(r is result[0][0] and t is ShapedArray((), np.float32) for r, t in result)


def test_rules_are_derived_by_many():
    table = RuleTable("test.derived", derive=lambda p: lambda: p.name)
    ps = [Primitive(f"test.derived{i}") for i in range(50)]
    for names in together(lambda k: [table[p]() for p in ps]):
        assert names == [p.name for p in ps]


def test_traces_belong_to_their_threads():
    def work(k):
        for n in range(1, 40):
            x = ShapedArray((n,), np.float32)

            def f(v, n=n):
                for _ in range(k + 1):
                    v = add_p.bind(sin_p.bind(v), np.full(n, k, np.float32))
                return [v]

            ir = stage_closed(f, [x], f"thread{k}")
            assert len(ir.eqns) == 2 * (k + 1) and ir.out_avals == [x]
            assert all((c == k).all() for c in ir.consts)

    together(work)


def test_options_and_scopes_belong_to_their_threads():
    x64, scope, axis = enable_x64(True), named_scope("shared"), bound_axis("i", 3)
    option = Option("test_threads", 0, "A number.", check=int)

    def work(k):
        for _ in range(200):
            with option(k), scope:
                assert option.value == k and current_source().scope == "shared"
                if k % 2:
                    with x64, axis:
                        assert typeof(1.0).dtype == np.float64 and axis_env() == (("i", 3),)
                assert typeof(1.0).dtype == np.float32 and axis_env() == ()
        assert option.value == 0 and current_source().scope == ""

    together(work)


def test_another_thread_is_given_what_this_one_has_set_for_itself() -> None:
    result: list[Any] = []

    def see(carry: Any) -> None:
        result.append(config.enable_checks)
        carry()
        result.append((config.enable_checks, config.enable_x64))

    before = config.enable_checks
    with enable_checks(not before):
        thread = threading.Thread(target=see, args=(config.carried(),))
        thread.start()
        thread.join()
    assert result == [before, (not before, config.enable_x64)]
