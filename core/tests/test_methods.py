"""Operators, methods and attributes of tracers: the provider is loaded when one is first used."""

from __future__ import annotations

import operator
import threading
import time

import numpy as np
import pytest

from dovetail_core import AbstractValue, PluginError, ShapedArray, install_methods, stage_closed
from dovetail_core.dispatch import value_methods as methods
from dovetail_core.dispatch.tracer import Tracer

F32 = ShapedArray((3,), np.float32)


@pytest.fixture
def fresh_methods():
    """Tracers as they are before any provider is loaded."""
    before = dict(vars(Tracer))
    installed = dict(methods._installed)
    for name in installed:
        if name in vars(Tracer):
            delattr(Tracer, name)
    methods._installed.clear()
    loaded = methods._load.swap(None)
    methods.install_loading(Tracer)
    yield
    methods._load.swap(loaded)
    for name in set(vars(Tracer)) - set(before):
        delattr(Tracer, name)
    for name, value in before.items():
        if vars(Tracer).get(name) is not value:
            setattr(Tracer, name, value)
    methods._installed.clear()
    methods._installed.update(installed)


@pytest.fixture
def provider(site, fresh_methods):
    site.plugin("acme", "providers={'array_methods': 'acme_methods:install'}")
    site.module(
        "acme_methods",
        "from dovetail_core import Tracer, install_methods\n"
        "from dovetail_testing.toy import add_p, less_p, neg_p, sum_p\n\n\n"
        "def install():\n"
        "    install_methods(Tracer, {\n"
        "        '__add__': lambda x, y: add_p.bind(x, y),\n"
        "        '__radd__': lambda x, y: add_p.bind(y, x),\n"
        "        '__lt__': lambda x, y: less_p.bind(x, y),\n"
        "        '__neg__': lambda x: neg_p.bind(x),\n"
        "        'sum': lambda x: sum_p.bind(x, axes=(0,)),\n"
        "        'T': property(lambda x: x),\n"
        "    })\n",
    )


def staged(f):
    return [e.primitive.name for e in stage_closed(lambda x: [f(x)], [F32]).eqns]


def test_threads_that_come_while_methods_are_installed_find_those_of_all_classes(
    site, fresh_methods
):
    site.plugin("acme", "providers={'array_methods': 'acme_methods:install'}")
    site.module("acme_values", "class Value:\n    pass\n")
    site.module(
        "acme_methods",
        "import time\nfrom dovetail_core import Tracer, install_methods\n"
        "from acme_values import Value\n\n\n"
        "def install():\n"
        "    install_methods(Tracer, {'__neg__': lambda x: x})\n"
        "    time.sleep(0.2)\n"
        "    install_methods(Value, {'__neg__': lambda x: 'negated'})\n",
    )
    from acme_values import Value

    methods.install_loading(Value)
    thread = threading.Thread(target=lambda: -Value())
    thread.start()
    while "__neg__" not in methods._installed:
        time.sleep(0.001)
    assert -Value() == "negated"
    thread.join()


def test_an_operator_loads_the_provider(provider):
    assert staged(lambda x: x + 1.0) == ["toy.add"]
    assert staged(lambda x: 1.0 + x) == ["toy.add"]
    assert staged(lambda x: -x) == ["toy.neg"]
    assert staged(lambda x: x < 2.0) == ["toy.less"]


def test_a_method_or_property_loads_the_provider(provider):
    assert staged(lambda x: x.sum()) == ["toy.sum"]
    assert staged(lambda x: x.T) == []


def test_an_operator_that_the_provider_lacks_is_an_error(provider):
    with pytest.raises(TypeError, match=r"Traced<f32\[3\]> .* has no __mul__: the plugin of array"):
        staged(lambda x: x * 2.0)


def test_an_attribute_that_nothing_has_is_an_error(provider):
    message = r"Traced<f32\[3\]> under a trace has no attribute 'nonsense'"
    with pytest.raises(AttributeError, match=message):
        staged(lambda x: x.nonsense)
    assert staged(lambda x: 1.0 if hasattr(x, "_private") else x) == []


def test_an_error_without_a_provider(site, fresh_methods):
    with pytest.raises(PluginError, match="no active plugin provides 'array_methods'"):
        staged(operator.neg)


def test_other_types_answer_for_themselves(fresh_methods):
    class Box(AbstractValue):
        is_high = True

        def str_short(self):
            return "box"

        def get(self, default=None):
            return (self, default)

        @property
        def kind(self):
            return "a kind"

    def f(x):
        bound = x.get(3)
        assert bound == (x, 3) or bound[1] == 3
        assert x.kind == "a kind"
        with pytest.raises(
            AttributeError, match="Traced<box> under a trace has no attribute 'pop'"
        ):
            x.pop  # noqa: B018
        with pytest.raises(AttributeError, match="no attribute 'shape'"):
            x.shape  # noqa: B018
        return []

    stage_closed(f, [Box()])


def test_methods_can_be_installed_on_another_class(fresh_methods):
    class Array:
        pass

    install_methods(Array, {"double": lambda self: 2})
    assert Array().double() == 2
