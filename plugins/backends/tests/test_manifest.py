"""What the manifest promises exists."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

import dovetail_backends
from dovetail_backends.plugin import MANIFEST
from dovetail_base.source import KERNEL_PACKAGES
from dovetail_core import Option
from dovetail_core.registry.plugins import load_object


@pytest.mark.parametrize("name", MANIFEST.names)
def test_names(name):
    assert load_object(MANIFEST.names[name]) is not None


@pytest.mark.parametrize("name", MANIFEST.backends)
def test_backends(name):
    backend = load_object(MANIFEST.backends[name])
    assert backend.platform == name and isinstance(backend.problem(), str)


@pytest.mark.parametrize("name", MANIFEST.options)
def test_options(name):
    option = load_object(MANIFEST.options[name])
    assert isinstance(option, Option) and option.name == name


def test_modules():
    rules = [m for modules in MANIFEST.contributes.values() for m in modules]
    for module in (*MANIFEST.primitives, *MANIFEST.types, *MANIFEST.surfaces.values(), *rules):
        assert import_module(module).__doc__


def test_manifest_is_light():
    code = "import sys, dovetail_backends.plugin; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    own = [m for m in loaded if m.startswith("dovetail_")]
    own = [m for m in own if m.partition(".")[0] not in KERNEL_PACKAGES]
    assert {m.removeprefix("dovetail_backends") for m in own} == {"", ".plugin", ".public"}


@pytest.mark.parametrize("name", sorted({*dovetail_backends.__all__, *dir(dovetail_backends)}))
def test_public_names(name):
    assert getattr(dovetail_backends, name) is not None


def test_unknown_public_name():
    with pytest.raises(AttributeError, match="has no attribute 'foo'"):
        dovetail_backends.foo  # noqa: B018
