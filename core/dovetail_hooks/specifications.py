"""Hooks for events at run time: pluggy specifications, and the manager of implementations."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Mapping
from typing import Any, cast

import pluggy

from dovetail_base.plugin_calls import (
    attempt,
    disable_with_warning,
    import_completely,
    is_users,
    spell,
)
from dovetail_base.source import hide_frames
from dovetail_core import discovery, registry

hookspec = pluggy.HookspecMarker("dovetail")
hookimpl = pluggy.HookimplMarker("dovetail")
hide_frames("pluggy")  # so that hooks see the user's line as the running one


class Hooks:
    """The hooks that a plugin's ``hooks`` module may implement (decorate with ``hookimpl``)."""

    @hookspec(firstresult=True)
    def dovetail_compile(self, module: str, platform: str, options: Mapping[str, Any]) -> Any:
        """Compile a StableHLO module in place of the backend; a wrapper sees every compilation."""

    @hookspec
    def dovetail_compile_options(self, platform: str) -> Mapping[str, Any]:
        """Compile options to add for a platform. Later (outer) plugins' values win."""
        return {}

    @hookspec
    def dovetail_traced(
        self, name: str, program: Any, seconds: float, function: Any, signature: Any
    ) -> None:
        """A function was traced; ``program`` is the ``ClosedJaxpr``."""

    @hookspec
    def dovetail_lowered(self, name: str, module: str, seconds: float, program: Any) -> None:
        """A program was lowered to StableHLO."""

    @hookspec
    def dovetail_compiled(
        self, name: str, platform: str, cached: bool, seconds: float, program: Any, executable: Any
    ) -> None:
        """A module was compiled, or read from the on-disk cache."""

    @hookspec
    def dovetail_not_cached(self, name: str, reason: str) -> None:
        """A function cannot be looked up in the cache without being traced, for ``reason``."""

    @hookspec
    def dovetail_environment(self) -> Mapping[str, str]:
        """Lines to add to the report of ``dovetail doctor``."""
        return {}


_MAPPINGS = ("dovetail_compile_options", "dovetail_environment")
"""Hooks whose results are mappings."""


def no_hooks() -> pluggy.PluginManager:
    """A manager with the specifications of the hooks and no implementation."""
    pm = pluggy.PluginManager("dovetail")
    pm.add_hookspecs(Hooks)
    return pm


def all_hooks() -> pluggy.PluginManager:
    """A manager with the hooks of all active plugins."""
    pm = no_hooks()
    for plugin, module in registry().hook_modules():
        _add(pm, plugin, module)
    return pm


def _add(pm: pluggy.PluginManager, plugin: discovery.Plugin, module: str) -> None:
    _, error = attempt(lambda: _register(pm, plugin, module), plugin.whose)
    if error is not None:
        if pm.has_plugin(plugin.name):  # it was registered, with an unknown hook
            pm.unregister(name=plugin.name)
        disable_with_warning(
            f"the hooks of {plugin.whose} ({module}) are set aside: "
            f"{spell(error.__cause__ or error)}. Fix the module, or disable the plugin "
            "(DOVETAIL_DISABLE_PLUGINS).",
            error,
        )


def _register(pm: pluggy.PluginManager, plugin: discovery.Plugin, module: str) -> None:
    import_completely(module)
    pm.register(sys.modules[module], name=plugin.name)
    pm.check_pending()
    for caller in pm.get_hookcallers(sys.modules[module]) or ():
        for impl in caller.get_hookimpls():
            if impl.plugin_name == plugin.name:
                wrapping = impl.wrapper or impl.hookwrapper
                guard = (_Wrapper if wrapping else _Guard)(plugin, caller.name, impl.function)
                cast("Any", impl).function = guard.run


class _Guard:
    """Runs an implementation of a hook, until it fails."""

    def __init__(self, plugin: discovery.Plugin, hook: str, function: Callable[..., Any]) -> None:
        self.plugin, self.hook, self.function = plugin, hook, function
        self.works = True

    def run(self, *args: Any) -> Any:
        if not self.works:
            return None
        try:
            return self.checked(self.function(*args))
        except BaseException as e:  # it may fail in any way
            return self.failed(e)

    def checked(self, result: Any) -> Any:
        """A result, checked to be of the type that the hook's callers expect."""
        if result is None or self.hook not in _MAPPINGS:
            return result
        if not isinstance(result, Mapping):
            raise TypeError(f"it returned a {type(result).__name__}, not a mapping")
        return dict(cast("Mapping[Any, Any]", result))

    def failed(self, error: BaseException) -> None:
        """Warn, and do not call the implementation any more."""
        if is_users(error):
            raise error
        self.works = False
        code = getattr(self.function, "__code__", None)
        line = f":{code.co_firstlineno}" if code is not None else ""
        disable_with_warning(
            f"the hook {self.hook!r} of {self.plugin.whose} ({self.function.__module__}{line}) is "
            f"set aside: {spell(error)}. Fix it, or disable the plugin (DOVETAIL_DISABLE_PLUGINS).",
            error,
        )


class _Wrapper(_Guard):
    """A guard of an implementation that wraps others: if it fails, their result is returned."""

    def run(self, *args: Any) -> Generator[None, Any, Any]:
        inner = self._started(args)
        try:
            given = yield
        except BaseException as thrown:
            # The others failed; this wrapper may handle their error.
            if inner is None:
                raise
            try:
                inner.throw(thrown)
            except StopIteration as stop:
                return stop.value
            raise
        try:
            if inner is not None:
                inner.send(given)
                raise RuntimeError("it yields more than once")
        except StopIteration as stop:
            return stop.value
        except BaseException as e:  # it may fail in any way
            self.failed(e)
        return given

    def _started(self, args: Any) -> Generator[Any, Any, Any] | None:
        if not self.works:
            return None
        try:
            inner = self.function(*args)
            next(inner)
        except BaseException as e:  # the same; StopIteration, too
            return self.failed(e)
        return inner
