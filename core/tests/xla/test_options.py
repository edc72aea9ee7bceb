"""Compile options: profiles, several devices, the user's own, and options that do not exist."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail_xla import arrays, client, execution, options, shardings

IDENTITY = "return %a : tensor<3xf32>"
SIGNATURE = "(%a: tensor<3xf32>) -> tensor<3xf32>"

SHARDY = """
module @s attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
      -> tensor<4xf32> {
    %0 = stablehlo.add %a, %a : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""


def test_an_unknown_option_is_named(compiled):
    with pytest.raises(ValueError) as raised:
        compiled(SIGNATURE, IDENTITY, compiler_options={"xla_no_such": True})
    assert str(raised.value) == (
        "unknown compiler option 'xla_no_such'; check `compiler_options` (names are XLA's debug "
        "option fields)"
    )


def test_an_option_with_a_value_of_the_wrong_kind_is_named(compiled):
    with pytest.raises(ValueError) as raised:
        compiled(SIGNATURE, IDENTITY, compiler_options={"xla_cpu_enable_fast_math": "perhaps"})
    assert str(raised.value).startswith(
        "compiler option xla_cpu_enable_fast_math, 'perhaps' is not a valid bool value; check"
    )


def test_an_option_whose_value_is_no_scalar_is_refused_at_once(cpu):
    with pytest.raises(TypeError) as raised:
        options.compile_options(cpu, compiler_options={"xla_dump_to": ["a"]})
    assert str(raised.value) == (
        "the compiler option 'xla_dump_to' has a value of type list: give a str, bool, int or float"
    )


def test_known_options_reach_the_compiler(cpu, compiled, tmp_path):
    wanted = {"xla_dump_to": str(tmp_path), "xla_dump_hlo_as_text": True}
    compiled(SIGNATURE, IDENTITY, compiler_options=wanted)
    assert list(tmp_path.iterdir())


def test_other_compile_failures_are_not_blamed_on_options(compiled):
    with pytest.raises(arrays.XlaRuntimeError, match="no_such_target"):
        compiled(
            SIGNATURE,
            "%0 = stablehlo.custom_call @no_such_target(%a) {api_version = 4 : i32} : "
            "(tensor<3xf32>) -> tensor<3xf32> return %0 : tensor<3xf32>",
        )


def test_whether_an_option_exists_is_found_out(cpu):
    assert options.option_exists(cpu, "xla_cpu_enable_fast_math")
    assert not options.option_exists(cpu, "xla_no_such")


def test_the_quick_profile_asks_for_less_optimisation(cpu):
    quick, default = (options.compile_options(cpu, p) for p in ("quick", "default"))
    level = [
        o.executable_build_options.debug_options.xla_backend_optimization_level
        for o in (quick, default)
    ]
    assert level[0] == 0 < level[1]
    has_emitters = options.option_exists(cpu, "xla_cpu_use_fusion_emitters")
    assert quick.env_option_overrides == (
        [("xla_cpu_use_fusion_emitters", False)] if has_emitters else []
    )
    assert default.env_option_overrides == []


def test_both_profiles_compute_the_same(compiled, put):
    body = "%0 = stablehlo.sine %a : tensor<3xf32> return %0 : tensor<3xf32>"
    x = put(np.arange(3, dtype=np.float32))
    for profile in ("quick", "default"):
        program = compiled(SIGNATURE, body, profile=profile)
        (out,) = program.execute_sharded([x]).disassemble_into_single_device_arrays()
        np.testing.assert_allclose(arrays.to_numpy(out[0]), np.sin(np.arange(3)), rtol=1e-6)


def test_options_are_material_for_cache_keys(cpu):
    first, same, other = (
        options.compile_options(cpu, profile).SerializeAsString()
        for profile in ("default", "default", "quick")
    )
    assert first == same != other


def test_a_partitioned_program_runs_on_its_devices(cpu, aval):
    devices = client.device_list(cpu.devices())
    opts = options.compile_options(
        cpu, num_partitions=2, device_ids=[0, 1], propagate_to_outputs=[True]
    )
    program = execution.compile(cpu, SHARDY, devices, opts)
    (told,) = execution.output_shardings(program)
    assert told == shardings.HloSharding.iota_tile((2,))
    assert execution.parameter_shardings(program) == [told]
    sharding = shardings.GSPMDSharding(devices, told)
    value = np.arange(4, dtype=np.float32)
    x = arrays.put_global(value, aval((4,)), sharding)
    (out,) = execution.execute(program, [x], [aval((4,))], [sharding], True)
    np.testing.assert_array_equal(arrays.to_numpy(out), 2 * value)


def test_shardy_annotations_compile_whatever_is_asked_for(cpu):
    # With the Shardy partitioner off, this module aborts the process on jaxlib 0.12.
    assert options.compile_options(cpu).executable_build_options.use_shardy_partitioner


def test_a_replicated_program_sums_over_its_replicas(cpu, aval):
    text = """
module @r attributes {mhlo.num_replicas = 2 : i32} {
  func.func public @main(%a: tensor<2xf32>) -> tensor<2xf32> {
    %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %s = stablehlo.add %p, %q : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
"""
    devices = client.device_list(cpu.devices())
    opts = options.compile_options(cpu, num_replicas=2, device_ids=[0, 1])
    program = execution.compile(cpu, text, devices, opts)
    sharding = shardings.GSPMDSharding(devices, shardings.HloSharding.iota_tile((2,)))
    value = np.arange(4, dtype=np.float32)
    x = arrays.put_global(value, aval((4,)), sharding)
    (out,) = execution.execute(program, [x], [aval((4,))], [sharding], True)
    np.testing.assert_array_equal(arrays.to_numpy(out), [2, 4, 2, 4])
