"""Functions built with MLIR's bindings as text, and functions moved between modules."""

from __future__ import annotations

import pytest

from dovetail_xla import mlir_functions as m

SOURCE = """
module {
  func.func public @main(%a: tensor<f32>) -> tensor<f32> {
    %0 = func.call @h(%a) : (tensor<f32>) -> tensor<f32>
    %1 = func.call @g(%0) : (tensor<f32>) -> tensor<f32>
    return %1 : tensor<f32>
  }
  func.func private @h(%a: tensor<f32>) -> tensor<f32> { return %a : tensor<f32> }
  func.func private @g(%a: tensor<f32>) -> tensor<f32> { return %a : tensor<f32> }
}
"""


def test_a_module_is_merged_under_free_names():
    with m.new_context() as context:
        into = m.ir().Module.parse(SOURCE, context)
        assert m.merge(into, "main", SOURCE) == "main_0"
        assert m.merge(into, "other", m.ir().Module.parse(SOURCE, context)) == "other"
        assert into.operation.verify()
        names = [op.name.value for op in into.body.operations]
        assert names == ["main", "h", "g", "main_0", "h_0", "g_0", "other", "h_1", "g_1"]
        merged = str(m.symbol(into, "main_0"))
        assert "func.func private @main_0" in merged
        assert "call @h_0(" in merged and "call @g_0(" in merged


def test_names_may_trade_places():
    with m.new_context() as context:
        module = m.ir().Module.parse(SOURCE, context)
        m.rename(module, {"h": "g", "g": "h"})
        text = str(m.symbol(module, "main"))
        assert text.index("call @g(") < text.index("call @h(")


def test_what_a_function_puts_beside_itself():
    def build(module, place, arguments, types):
        m.merge(module, "part", SOURCE)
        return m.call("part", arguments, types)

    asked = []

    def settle(name, key):
        asked.append((name, len(key)))
        return f"{name}_9", name != "g"

    text, others = m.function_texts("f", ["tensor<f32>"], ["tensor<f32>"], build, settle)
    assert "callee = @part_9" in text and 'sym_name = "f"' in text
    assert len(others) == 2 and "callee = @g_9" in others[0] and 'sym_name = "h_9"' in others[1]
    assert asked == [("part", 4), ("h", 2), ("g", 2)]  # itself, its name, and what it calls


def test_results_are_found_in_any_form():
    def build(module, place, arguments, types):
        (x,) = arguments
        assert m.values_of(None) == [] and m.values_of([x, (x, [x])]) == [x, x, x]
        op = m.dialect("stablehlo").AddOp(x, x)
        assert m.values_of(op) == m.values_of(op.results) == [op.result]
        return [3]

    with pytest.raises(m.InvalidFunction, match=r"returned \(int\), but the operation's results"):
        m.function_texts(
            "f", ["tensor<f32>"], ["tensor<f32>"], build, lambda name, key: (name, True)
        )
