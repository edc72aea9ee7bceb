"""Process state of the C++ call path."""

from __future__ import annotations

import threading

from dovetail_xla import config


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


def test_the_trace_context_is_one_tuple_until_something_is_set(set_local):
    first = config.trace_context()
    assert config.trace_context() is first
    set_local(config.enable_x64_state, not config.enable_x64_state.value)
    second = config.trace_context()
    assert second != first and config.trace_context() is second
    config.enable_x64_state.set_local(first[0] if first else False)
    assert config.trace_context() == first
    config.enable_x64_state.swap_local(True)
    assert config.trace_context()[0] is True


def test_what_is_set_for_all_is_seen_by_threads_that_have_read_their_context(set_local):
    late = config.TraceConfig("dovetail_test_for_all", 0)
    seen, read, was_set = [], threading.Event(), threading.Event()

    def look():
        seen.append(config.trace_context())
        read.set()
        assert was_set.wait(60)
        seen.append(config.trace_context())

    thread = threading.Thread(target=look)
    thread.start()
    assert read.wait(60)
    late.set_global(5)
    was_set.set()
    thread.join()
    late.set_global(0)
    assert seen[0] != seen[1] and seen[1][-1] == 5
    assert config.trace_context()[-1:] != (5,)


def test_a_state_that_comes_late_changes_no_key_while_it_has_its_default(set_local):
    before = config.trace_context()
    late = config.TraceConfig("dovetail_test_late", "standard")
    assert config.trace_context() == before
    set_local(late, "strict")
    assert config.trace_context() != before and config.trace_context()[-1] == "strict"
    set_local(late, "standard")
    assert config.trace_context() == before
