"""Options: defaults from the environment, context managers, threads, cache keys, errors."""

from __future__ import annotations

import copy
import threading

import pytest

from dovetail_base.options import as_bool, disable_jit, enable_checks
from dovetail_core import Option, ShapedArray, config, enable_x64, typeof
from dovetail_xla.config import trace_context


def test_an_option_is_a_context_manager_and_nests():
    assert enable_x64.value is False
    with enable_x64(True):
        with enable_x64(False):
            assert not enable_x64.value
        assert enable_x64.value and config.enable_x64
    assert not enable_x64.value


def test_an_error_inside_restores_the_value():
    with pytest.raises(KeyError), enable_x64(True):
        raise KeyError
    assert not enable_x64.value


def test_one_setting_may_be_entered_again_after_it_is_left():
    setting = enable_x64(True)
    for _ in range(2):
        with setting:
            assert enable_x64.value
        assert not enable_x64.value


def test_settings_belong_to_a_thread():
    seen = []
    with enable_x64(True):
        thread = threading.Thread(target=lambda: seen.append(typeof(1.0)))
        thread.start()
        thread.join()
        assert typeof(1.0) is ShapedArray((), "float64", True)
    assert seen == [ShapedArray((), "float32", True)]


def test_update_sets_the_process():
    seen = []
    config.update("enable_checks", True)
    try:
        thread = threading.Thread(target=lambda: seen.append(enable_checks.value))
        thread.start()
        thread.join()
        assert seen == [True]
    finally:
        config.update("enable_checks", False)


def test_names_may_carry_a_prefix():
    config.update("jax_enable_x64", True)
    try:
        assert config.enable_x64 and config.option("dovetail_enable_x64") is enable_x64
    finally:
        config.update("dovetail_enable_x64", False)


def test_what_changes_programs_is_part_of_cache_keys():
    before = trace_context()
    with enable_x64(True):
        assert trace_context() != before
    with disable_jit(True), enable_checks(True):
        assert trace_context() == before


def test_defaults_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("DOVETAIL_TEST_SIZE", "12")
    assert Option("test_size", 3, "A size.", check=int).value == 12
    assert Option("test_other", 3, "A size.", check=int).value == 3


def test_an_error_for_a_bad_value_names_the_option_or_the_variable(monkeypatch):
    with pytest.raises(ValueError, match=r"^option 'enable_x64': expected a boolean .*got 'maybe'"):
        config.update("enable_x64", "maybe")
    with pytest.raises(ValueError, match=r"^option 'enable_checks': expected a boolean"):
        enable_checks(3)
    monkeypatch.setenv("DOVETAIL_TEST_FLAG", "maybe")
    message = "^environment variable DOVETAIL_TEST_FLAG: expected a boolean"
    with pytest.raises(ValueError, match=message):
        Option("test_flag", False, "A flag.", check=as_bool)


@pytest.mark.parametrize(
    ("given", "value"), [("1", True), ("on", True), ("False", False), (True, True), (0, False)]
)
def test_words_for_booleans(given, value):
    assert as_bool(given) is value


def test_a_copy_of_the_configuration_reads_the_same_options():
    again = copy.copy(config)
    with enable_x64(not config.enable_x64):
        assert again.enable_x64 is config.enable_x64


def test_an_unknown_option_names_similar_ones(site, monkeypatch):
    kernels = {n: config.option(n) for n in ("enable_checks", "disable_jit", "enable_x64")}
    monkeypatch.setattr(config, "_options", kernels)  # plugins of earlier tests have added theirs
    site.plugin("acme", "options={'acme_depth': 'acme_options:DEPTH'}")
    site.module(
        "acme_options",
        "from dovetail_core import Option\nDEPTH = Option('acme_depth', 3, 'Depth.', check=int)\n",
    )
    with pytest.raises(AttributeError) as e:
        config.option("nonsense")
    first, last = str(e.value).split(" at ")
    assert first == "no option 'nonsense'"
    assert "test_context.py" in last
    assert last.endswith(". dir(dovetail.config) has all.")
    with pytest.raises(AttributeError, match=r"\. Similar ones are acme_depth\.$"):
        config.option("acme_deep")
    assert not hasattr(config, "_private")
    try:
        assert config.acme_depth == 3
        config.update("acme_depth", "5")
        assert config.acme_depth == 5
        assert repr(config).split("\n")[0] == "acme_depth = 5" and "acme_depth" in dir(config)
    finally:
        config._options.pop("acme_depth", None)


def test_one_setting_may_be_entered_while_it_is_entered():
    setting = enable_x64(True)
    with setting, setting:
        assert enable_x64.value
    assert not enable_x64.value


def test_threads_share_a_setting():
    setting, inside, leave = enable_x64(True), threading.Event(), threading.Event()
    seen = []

    def other():
        with setting:
            inside.set()
            leave.wait(10)
        seen.append(enable_x64.value)

    thread = threading.Thread(target=other)
    with enable_x64(True):
        thread.start()
        inside.wait(10)
        with setting:
            leave.set()
            thread.join()
        assert enable_x64.value
    assert seen == [False] and not enable_x64.value


def test_a_setting_decorates_functions():
    setting = enable_x64(True)

    @setting
    def depth(n: int) -> list[bool]:
        """How deep."""
        return [enable_x64.value, *(depth(n - 1) if n else ())]

    assert depth(2) == [True] * 3 and not enable_x64.value
    assert depth.__name__ == "depth" and depth.__doc__ == "How deep."
    with pytest.raises(TypeError):
        depth()
    assert not enable_x64.value
