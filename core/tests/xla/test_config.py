"""Process state of the C++ call path."""

from __future__ import annotations

import threading

from dovetail_core.xla import config


def test_x64_is_part_of_the_trace_context_and_disable_jit_is_not(set_local):
    before = config.trace_context()
    set_local(config.disable_jit_state, False)
    set_local(config.tracing_state, True)
    assert config.trace_context() == before
    set_local(config.enable_x64_state, True)
    assert config.trace_context() != before


def test_a_local_value_is_not_seen_by_other_threads(set_local):
    set_local(config.tracing_state, "here")
    seen = []
    thread = threading.Thread(target=lambda: seen.append(config.tracing_state.value))
    thread.start()
    thread.join()
    assert (config.tracing_state.value, seen) == ("here", [False])


def test_swap_local_gives_back_what_restores(set_local):
    previous = config.post_hook_state.swap_local(print)
    assert previous is config.unset
    assert config.post_hook_state.swap_local(previous) is print
    assert config.post_hook_state.value is None


def test_a_state_that_comes_late_changes_no_key_while_it_has_its_default(set_local):
    before = config.trace_context()
    late = config.Config("dovetail_test_late", "standard", include_in_trace_context=True)
    assert config.trace_context() == before
    set_local(late, "strict")
    assert config.trace_context() != before and config.trace_context()[-1] == "strict"
    set_local(late, "standard")
    assert config.trace_context() == before
