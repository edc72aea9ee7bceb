"""Executables: compiled from every form, kept on disk, run, and inspected."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail_xla import arrays, client, execution, mlir, options, shardings

DOUBLE = """
module @m {
  func.func public @main(%a: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.add %a, %a : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}
"""
CALLBACK = """
module @m {
  func.func public @main(%a: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%a) {
      api_version = 4 : i32, backend_config = {index = 0 : ui64}, has_side_effect = true
    } : (tensor<3xf32>) -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}
"""


@pytest.fixture
def devices(cpu):
    return client.device_list(cpu.devices()[:1])


@pytest.fixture
def opts(cpu):
    return options.compile_options(cpu, "quick")


@pytest.fixture
def run(aval, device, put):
    """Runs a program on a float32[3] that counts from 0."""

    def run(program):
        sharding = shardings.single_device_sharding(device)
        x = put(np.arange(3, dtype=np.float32))
        (out,) = execution.execute(program, [x], [aval((3,))], [sharding], False)
        return arrays.to_numpy(out).tolist()

    return run


@pytest.mark.parametrize(
    "form",
    [str, mlir.bytecode, mlir.portable_artifact, mlir.parse],
    ids=["text", "bytecode", "artifact", "module"],
)
def test_every_form_of_a_module_compiles(cpu, devices, opts, run, form):
    assert run(execution.compile(cpu, form(DOUBLE), devices, opts)) == [0, 2, 4]


def test_a_compilation_can_be_refused(cpu, devices, opts, monkeypatch):
    def refuse(client, module, *rest):
        raise PermissionError(f"{client.platform}: {len(rest)}")

    monkeypatch.setattr(execution, "before_compiling", [refuse])
    with pytest.raises(PermissionError, match="cpu: 3"):
        execution.compile(cpu, DOUBLE, devices, opts)


def test_results_have_the_given_aval_sharding_and_commitment(double, aval, device, put):
    sharding = shardings.single_device_sharding(device)
    wanted = aval((3,), "f4", True)
    x = put(np.arange(3, dtype=np.float32))
    for committed in (False, True):
        (out,) = execution.execute(double, [x], [wanted], [sharding], committed)
        assert out.aval is wanted
        assert out._sharding is sharding
        assert out._committed is committed


def test_handlers_may_be_kept_for_many_runs(double, aval, device, put):
    sharding = shardings.single_device_sharding(device)
    handlers = execution.result_handlers([aval((3,))], [sharding], [False])
    x = put(np.ones(3, np.float32))
    for _ in range(3):
        (x,) = execution.run(double, [x], handlers)
    np.testing.assert_array_equal(arrays.to_numpy(x), [8, 8, 8])


def test_wrong_arguments_are_refused(double, aval, device, put):
    sharding = shardings.single_device_sharding(device)
    handlers = execution.result_handlers([aval((3,))], [sharding], False)
    x = put(np.ones(3, np.float32))
    with pytest.raises(TypeError):
        execution.run(double, [np.ones(3, np.float32)], handlers)
    for wrong in ([x, x], [], [put(np.ones(4, np.float32))]):
        with pytest.raises((arrays.XlaRuntimeError, ValueError)):
            execution.run(double, wrong, handlers)


def test_results_and_types_must_be_as_many(aval, device):
    with pytest.raises(ValueError, match=r"shorter|longer"):
        execution.result_handlers([aval((3,))], [], False)


@pytest.mark.parametrize("form", [str, mlir.bytecode, mlir.parse], ids=["text", "bytes", "module"])
def test_host_callbacks_are_called(cpu, devices, opts, run, form):
    program = execution.compile(cpu, form(CALLBACK), devices, opts, [lambda x: (x + 10,)])
    assert run(program) == [10, 11, 12]


def test_a_token_waits_for_side_effects(cpu, devices, opts, aval, device, put):
    seen = []

    def record(x):
        seen.append(x.tolist())
        return (x,)

    program = execution.compile(cpu, CALLBACK, devices, opts, [record])
    handlers = execution.result_handlers(
        [aval((3,))], [shardings.single_device_sharding(device)], False
    )
    x = put(np.arange(3, dtype=np.float32))
    (out,), token = execution.run_with_token(program, [x], handlers)
    token.block_until_ready()
    assert seen == [[0, 1, 2]]
    np.testing.assert_array_equal(arrays.to_numpy(out), [0, 1, 2])


def test_a_program_comes_back_from_bytes(cpu, devices, double, run):
    blob = execution.serialize(cpu, double)
    assert isinstance(blob, bytes)
    assert run(execution.deserialize(cpu, blob, devices)) == [0, 2, 4]


def test_callbacks_are_given_anew_to_a_program_from_bytes(cpu, devices, opts, run):
    program = execution.compile(cpu, CALLBACK, devices, opts, [lambda x: (x + 1,)])
    blob = execution.serialize(cpu, program)
    again = execution.deserialize(cpu, blob, devices, None, [lambda x: (x + 2,)])
    assert run(again) == [2, 3, 4]


def test_a_damaged_blob_is_refused(cpu, devices, double):
    blob = execution.serialize(cpu, double)
    for damaged in (b"", b"nonsense", blob[: len(blob) // 2]):
        with pytest.raises(arrays.XlaRuntimeError):
            execution.deserialize(cpu, damaged, devices)


def test_cost_and_memory_are_told(double):
    cost = execution.cost_analysis(double)
    assert cost["flops"] == 3
    memory = execution.memory_stats(double)
    assert memory.argument_size_in_bytes == memory.output_size_in_bytes == 12
    assert memory.alias_size_in_bytes == 0


def test_donated_memory_counts_as_alias(compiled):
    program = compiled(
        "(%a: tensor<3xf32> {tf.aliasing_output = 0 : i32}) -> tensor<3xf32>",
        "%0 = stablehlo.add %a, %a : tensor<3xf32> return %0 : tensor<3xf32>",
    )
    assert execution.memory_stats(program).alias_size_in_bytes == 12


def test_layouts_are_told(compiled):
    program = compiled(
        "(%a: tensor<3x2xf32>, %b: tensor<f32>) -> tensor<2x3xf32>",
        "%0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>"
        " return %0 : tensor<2x3xf32>",
    )
    assert execution.parameter_layouts(program) == [((0, 1), (), 0), ((), (), 0)]
    assert execution.output_layouts(program) == [((0, 1), (), 0)]


def test_the_optimised_program_can_be_read(double):
    text = execution.hlo_text(double)
    assert text.startswith("HloModule m")
    assert "f32[3]" in text


def test_one_device_programs_have_no_partition(double):
    assert execution.output_shardings(double) is None
    assert execution.parameter_shardings(double) is None
