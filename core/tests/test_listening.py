"""Options while which somebody hears of what happens."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from dovetail_core import hookimpl
from dovetail_hooks import manager
from dovetail_hooks.options import Listener, ListeningOption


class Hooks:
    @hookimpl
    def dovetail_lowered(self, name: str) -> None:
        pass


def made() -> tuple[Listener, ListeningOption]:
    listener = Listener(Hooks)
    return listener, ListeningOption(listener, "listens_in_a_test", None, "Nothing.")


def is_heard(listener: Listener) -> bool:
    return manager().is_registered(listener.hooks)


def test_hooks_are_there_while_the_option_is_on_anywhere() -> None:
    listener, option = made()
    assert not is_heard(listener)
    with option("a"), option("b"):
        assert is_heard(listener)
        with option(None):  # the outer value is back after it
            assert not is_heard(listener)
        assert is_heard(listener)
        option.set("c")
    assert is_heard(listener)
    option.set(None)
    assert not is_heard(listener)


def test_threads_hold_them_on_their_own() -> None:
    listener, option = made()
    inside, go_on = threading.Event(), threading.Event()

    def run() -> None:
        with option(True):
            inside.set()
            go_on.wait(60)

    thread = threading.Thread(target=run)
    thread.start()
    inside.wait(60)
    with option(True):
        pass
    assert is_heard(listener)
    go_on.set()
    thread.join()
    assert not is_heard(listener)


def test_functions_are_decorated_and_errors_end_it() -> None:
    listener, option = made()

    @option(True)
    def fails() -> Any:
        assert is_heard(listener)
        raise ValueError("of the user")

    for _ in range(2):
        with pytest.raises(ValueError, match="of the user"):
            fails()
        assert not is_heard(listener)


def test_what_a_module_of_hooks_has_is_not_registered_twice() -> None:
    listener, option = made()
    listener.is_always = True
    with option(True):
        assert not is_heard(listener)
