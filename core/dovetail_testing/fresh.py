"""Contexts for code that is to run as in a new process: with other plugins or environment."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager

from dovetail_core import Manifest, registry
from dovetail_core.registry.claims import settle_claims
from dovetail_core.registry.discovery import swap_registry
from dovetail_core.registry.plugins import Plugin, Registry
from dovetail_core.rules.filling import tell_caches
from dovetail_core.types.algebra import forget_provider
from dovetail_hooks import manager

Passes = dict[str, Mapping[str, str]]


@contextmanager
def fresh_registry() -> Generator[Registry, None, None]:
    """Context manager: entry points and environment are read anew within, and the old registry is
    restored at the end. Tables that the process has filled stay filled; primitives stay defined.
    """
    with _swapped(None) as result:
        yield result


@contextmanager
def with_plugins(*manifests: Manifest) -> Generator[Registry, None, None]:
    """Context manager: adds plugins with these manifests, each of a distribution of its own
    (``acme-dist 1.0``); they replace plugins of the same name."""
    outer = registry()
    more = {m.name: Plugin(m.name, f"{m.name}-dist", "1.0", f"{m.name}:M", m) for m in manifests}
    inside = Registry(plugins=dict(sorted({**outer.plugins, **more}.items())))
    settle_claims(inside)
    with _swapped(inside) as result:
        yield result


@contextmanager
def _swapped(new: Registry | None) -> Generator[Registry, None, None]:
    outer = swap_registry(new)
    passes = _passes(outer)
    try:
        _forget()
        with _telling(passes, _passes(registry())):
            yield registry()
    finally:
        swap_registry(outer)
        _forget()


def _forget() -> None:
    forget_provider()
    manager.cache_clear()


@contextmanager
def _telling(outside: Passes, inside: Passes) -> Generator[None, None, None]:
    """Drop remembered programs at both ends of the context if the passes in it are others."""
    if outside == inside:
        yield
        return
    tell_caches()
    try:
        yield
    finally:
        tell_caches()


def _passes(result: Registry | None) -> Passes:
    """The passes of a registry's active plugins, by plugin."""
    active = {} if result is None else result.active
    return {name: m.passes for name, m in active.items() if m.passes}
