"""Contexts for code that is to run as in a new process: with other plugins or environment."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager

from dovetail_core import Manifest, discovery, generation, registry

Passes = dict[str, Mapping[str, str]]


@contextmanager
def fresh_registry() -> Generator[discovery.Registry, None, None]:
    """Context manager: entry points and environment are read anew within, and the old registry is
    restored at the end. Tables that the process has filled stay filled; primitives stay defined.
    """
    with _swapped(None) as result:
        yield result


@contextmanager
def with_plugins(*manifests: Manifest) -> Generator[discovery.Registry, None, None]:
    """Context manager: adds plugins with these manifests, each of a distribution of its own
    (``acme-dist 1.0``); they replace plugins of the same name."""
    outer = registry()
    more = {m.name: _plugin(m) for m in manifests}
    inside = discovery.registry_of({**outer.plugins, **more})
    with _swapped(inside) as result:
        yield result


@contextmanager
def _swapped(new: discovery.Registry | None) -> Generator[discovery.Registry, None, None]:
    outer = discovery.swap_registry(new)
    passes = _passes(outer)
    try:
        with _telling(passes, _passes(registry())):
            yield registry()
    finally:
        discovery.swap_registry(outer)


def _plugin(manifest: Manifest) -> discovery.Plugin:
    name = manifest.name
    return discovery.Plugin(name, f"{name}-dist", "1.0", f"{name}:M", manifest)


@contextmanager
def _telling(outside: Passes, inside: Passes) -> Generator[None, None, None]:
    """Drop remembered programs at both ends of the context if the passes in it are others."""
    if outside == inside:
        yield
        return
    _drop_programs()
    try:
        yield
    finally:
        _drop_programs()


def _drop_programs() -> None:
    generation.set_global(generation.value + 1)


def _passes(result: discovery.Registry | None) -> Passes:
    """The passes of a registry's active plugins, by plugin."""
    active = {} if result is None else result.active
    return {name: m.passes for name, m in active.items() if m.passes}
