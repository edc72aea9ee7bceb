"""StableHLO modules: parsing, checking, passes, and the forms they are kept in."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from dovetail_xla import mlir

TEXT = """
module @m {
  func.func public @main(%a: tensor<3xf32>) -> tensor<3xf32> {
    %unused = stablehlo.sine %a : tensor<3xf32>
    %0 = stablehlo.add %a, %a : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}
"""
PRETTY = """\
module @m {
  func.func public @main(%arg0: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}
"""


def test_a_context_belongs_to_its_thread():
    seen = []
    thread = threading.Thread(target=lambda: seen.append(mlir.context()))
    thread.start()
    thread.join()
    assert mlir.context() is mlir.context()
    assert seen[0] is not mlir.context()


FORMS = {
    "module": lambda module: module,
    "text": mlir.pretty,
    "bytecode": mlir.bytecode,
    "artifact": mlir.portable_artifact,
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_form_prints_alike(form):
    module = mlir.run_passes(TEXT, "cse")  # making an artifact drops what is not used
    assert mlir.pretty(form(module)).strip() == PRETTY.strip()


def test_locations_are_printed_on_request():
    module = mlir.parse(
        TEXT.replace("%a, %a : tensor<3xf32>", '%a, %a : tensor<3xf32> loc("here")')
    )
    assert "here" not in mlir.pretty(module)
    assert 'loc("here")' in mlir.pretty(module, locations=True).replace("#loc1 = ", "")


def test_dialects_of_every_kind_parse():
    mlir.verify("""
module { sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = chlo.erf %a : tensor<4xf32> -> tensor<4xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<4xf32>
    return %1 : tensor<4xf32>
  } }""")


def test_text_that_does_not_parse_is_refused_with_its_place():
    with pytest.raises(ValueError, match=r"not a valid module: (.|\n)*3:(.|\n)*no_such_op"):
        mlir.parse("module {\n  func.func @main() {\n    stablehlo.no_such_op\n  }\n}")


def test_a_malformed_module_is_found_by_verify():
    from jaxlib.mlir import ir

    module = mlir.parse(TEXT)
    function = module.body.operations[0]
    with module.context, ir.Location.unknown():
        wrong = ir.RankedTensorType.get((4,), ir.F32Type.get())
        block = function.regions[0].blocks[0]
        with ir.InsertionPoint.at_block_begin(block):
            ir.Operation.create("stablehlo.add", results=[wrong], operands=[block.arguments[0]] * 2)
    mlir.verify(TEXT)
    with pytest.raises(ValueError, match=r"the module is malformed: (.|\n)*add"):
        mlir.verify(module)


def test_passes_change_a_module_in_place():
    module = mlir.parse(TEXT)
    assert mlir.run_passes(module, "canonicalize,cse") is module
    assert "sine" not in mlir.pretty(module)


def test_passes_run_on_text_too():
    chlo = TEXT.replace(
        "stablehlo.sine %a : tensor<3xf32>", "chlo.tan %a : tensor<3xf32> -> tensor<3xf32>"
    )
    module = mlir.run_passes(chlo, "func.func(chlo-legalize-to-stablehlo)")
    assert "chlo" not in mlir.pretty(module)


def test_an_unknown_pass_is_named():
    with pytest.raises(ValueError, match=r"bad pass pipeline 'no-such-pass': (.|\n)*registered"):
        mlir.run_passes(TEXT, "no-such-pass")


def test_a_portable_artifact_comes_back_and_leaves_the_module_alone():
    module = mlir.run_passes(TEXT, "cse")  # making an artifact drops what is not used
    before = mlir.pretty(module)
    artifact = mlir.portable_artifact(module)
    assert mlir.pretty(module) == before  # jaxlib's dialect function would have made it VHLO
    assert mlir.pretty(mlir.from_portable_artifact(artifact)) == before


def test_an_artifact_can_be_made_for_an_older_reader():
    module = mlir.run_passes(TEXT, "cse")
    oldest = mlir.portable_artifact(module, "0.9.0")
    assert oldest != mlir.portable_artifact(module)
    assert mlir.pretty(mlir.from_portable_artifact(oldest)) == mlir.pretty(module)


def test_a_damaged_artifact_is_refused():
    with pytest.raises(ValueError, match="not a readable StableHLO artifact"):
        mlir.from_portable_artifact(b"nonsense")


def test_the_interpreter_evaluates_without_xla():
    value = np.arange(3, dtype=np.float32)
    (out,) = mlir.evaluate(TEXT, [value])
    np.testing.assert_array_equal(out, 2 * value)
