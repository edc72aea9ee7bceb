"""What makes this a plugin: it is found, it is set out in a manifest, and errors name it."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import requires
from importlib.resources import files

import numpy as np
import pytest
from acme_interval import interval

import dovetail
from dovetail import lax
from dovetail_core import MissingRule, registry

f32 = np.float32


def run(*arguments):
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def test_it_is_listed():
    lines = run("-m", "dovetail_cli", "plugins").splitlines()
    (line,) = [x for x in lines if x.split()[:1] == ["interval"]]
    assert "dovetail-interval" in line


def test_its_column_is_in_the_matrix():
    text = run("-m", "dovetail_cli", "explain", "sin", "interval.bounds")
    assert "declared" in text and "acme_interval.rules.functions" in text
    text = run("-m", "dovetail_cli", "explain", "while", "interval.bounds")
    assert "derived" in text and "regions" in text


def test_its_name_is_in_the_facade():
    assert dovetail.interval is interval


def test_it_depends_on_the_kernel_only():
    needed = [r for r in requires("dovetail-interval") or [] if "extra ==" not in r]
    assert [r.partition("~")[0] for r in needed] == ["dovetail-core"]
    assert registry().active["interval"].requires == ("lax",)


def test_importing_it_imports_no_other_plugin():
    script = (
        "import sys, acme_interval\n"
        "print([m for m in sys.modules if m.startswith('dovetail_')"
        " and m[9:].partition('.')[0] not in ('base', 'core', 'high', 'hooks', 'mesh', 'mutable',"
        " 'surface', 'tree', 'text', 'xla')])"
    )
    assert run("-c", script).strip() == "[]"


def test_the_transformation_is_short():
    """Carrier, trace, table and public function; without rules, which are another matter."""
    source = files("acme_interval").joinpath("bounds.py").read_text()
    assert len(source.splitlines()) < 150


def test_an_error_for_a_row_without_a_rule():
    def f(x):
        return lax.bitcast_convert_type(x, np.int32)

    with pytest.raises(MissingRule) as e:
        interval(f)(f32(0), f32(1))
    text = str(e.value)
    assert "table 'interval.bounds' has no rule for primitive 'bitcast_convert_type' at " in text
    assert "test_plugin.py:" in text and ".f)" in text
    assert "The primitive comes from dovetail " in text and "(plugin 'lax')" in text
    assert "the table from dovetail-interval " in text and "(plugin 'interval')" in text
    assert "registry().table('interval.bounds').register(bitcast_convert_type_p)" in text


def test_an_error_for_a_row_without_a_rule_in_a_loop():
    f = lambda x: lax.fori_loop(0, 3, lambda i, v: lax.bessel_i1e(v), x)  # noqa: E731
    with pytest.raises(
        MissingRule, match=r"no rule for primitive 'bessel_i1e' at .*test_plugin\.py"
    ):
        interval(f)(f32(0), f32(1))


def test_a_user_can_fill_the_rule():
    primitive = lax.bessel_i1e_p
    table = registry().table("interval.bounds")
    assert table.get(primitive) is None

    @table.register(primitive)
    def _bessel_i1e(carrier, args, params):
        ((low, high),) = args  # it rises from 0 to 1.5
        return primitive.bind(low), primitive.bind(high)

    try:
        lo, hi = interval(lax.bessel_i1e)(f32(0), f32(1))
        np.testing.assert_allclose([lo, hi], [0, 0.20791042], rtol=1e-5)
    finally:
        del table.rules[primitive], table.origins[primitive]
