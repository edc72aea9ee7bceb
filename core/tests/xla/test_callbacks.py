"""Host callbacks whose results C++ would copy unseen."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from dovetail_xla import arrays, callbacks, client, execution, mlir, options, shardings

BODY = (
    "%0 = stablehlo.custom_call @{target}(%a) {{api_version = 4 : i32, "
    "backend_config = {{index = 0 : ui64}}}} : (tensor<3xf32>) -> {type} return %0 : {type}"
)


@pytest.fixture
def call(compiled, put, aval, device):
    """The result of a callback on a float32[3] that counts from 0."""

    def call(fun, dtype="f4", type="tensor<3xf32>", shape=(3,)):
        wanted = aval(shape, dtype)
        program = compiled(
            f"(%a: tensor<3xf32>) -> {type}",
            BODY.format(target=callbacks.TARGET, type=type),
            [callbacks.checked_callback(fun, [wanted], "my_callback")],
        )
        sharding = shardings.single_device_sharding(device)
        x = put(np.arange(3, dtype=np.float32))
        (out,) = execution.execute(program, [x], [wanted], [sharding], False)
        return arrays.to_numpy(out)

    return call


def test_results_of_the_declared_type_come_back(call):
    np.testing.assert_array_equal(call(lambda x: (x + 1,)), [1, 2, 3])
    np.testing.assert_array_equal(call(lambda x: [x[::-1]]), [2, 1, 0])
    half = call(lambda x: (x.astype(ml_dtypes.bfloat16),), ml_dtypes.bfloat16, "tensor<3xbf16>")
    np.testing.assert_array_equal(half.astype("f4"), [0, 1, 2])
    assert call(lambda x: (np.float32(7),), "f4", "tensor<f32>", ()) == 7


def test_arguments_are_read_only_copies(call):
    def writes(x):
        x[0] = 9
        return (x,)

    with pytest.raises(ValueError, match="read-only"):
        call(writes)


@pytest.mark.parametrize(
    ("fun", "said"),
    [
        (lambda x: (x[:2],), "my_callback: result 0 is float32[2], but the program was compiled "
         "for float32[3]: convert it, or declare what is returned"),
        (lambda x: (x.astype("f8"),), "result 0 is float64[3], but the program was compiled for"),
        (lambda x: x, "my_callback must return a tuple of 1 values, but returned a ndarray"),
        (lambda x: (x, x), "my_callback must return a tuple of 1 values, but returned 2"),
    ],
)  # fmt: skip
def test_other_results_are_refused(call, fun, said):
    with pytest.raises(TypeError) as raised:
        call(fun)
    assert said in str(raised.value)


def test_tokens_pass_through_as_none():
    seen = []
    call = callbacks.checked_callback(lambda token: seen.append(token) or (None,), [None])
    assert call(None) == (None,)
    assert seen == [None]


def test_each_device_calls_with_its_own_part_in_a_manual_computation(cpu, aval):
    text = f"""
module @m attributes {{mhlo.num_partitions = 2 : i32}} {{
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<6xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}})
      -> (tensor<6xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}}) {{
    %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{{"x"}}]>]
        out_shardings=[<@mesh, [{{"x"}}]>] manual_axes={{"x"}} (%b: tensor<3xf32>) {{
      %1 = stablehlo.custom_call @{callbacks.TARGET}(%b) {{
        api_version = 4 : i32, backend_config = {{index = 0 : ui64}}
      }} : (tensor<3xf32>) -> tensor<3xf32>
      sdy.return %1 : tensor<3xf32>
    }} : (tensor<6xf32>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }}
}}"""
    devices = client.device_list(cpu.devices())
    opts = options.compile_options(cpu, num_partitions=2, device_ids=[0, 1])
    double = callbacks.checked_callback(lambda x: (2 * x,), [aval((3,))])
    program = execution.compile(cpu, text, devices, opts, [double])
    sharding = shardings.GSPMDSharding(devices, shardings.HloSharding.iota_tile((2,)))
    value = np.arange(6, dtype=np.float32)
    x = arrays.put_global(value, aval((6,)), sharding)
    (out,) = execution.execute(program, [x], [aval((6,))], [sharding], True)
    np.testing.assert_array_equal(arrays.to_numpy(out), 2 * value)


FORMS = {
    "text": str,
    "bytecode": mlir.bytecode,
    "module": mlir.parse,
    "artifact": mlir.portable_artifact,
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_program_without_its_callbacks_is_refused(cpu, form):
    # Running it would end the process.
    body = BODY.format(target=callbacks.TARGET, type="tensor<3xf32>")
    text = f"module {{ func.func public @main(%a: tensor<3xf32>) -> tensor<3xf32> {{ {body} }} }}"
    devices = client.device_list(cpu.devices()[:1])
    opts = options.compile_options(cpu)
    with pytest.raises(ValueError) as raised:
        execution.compile(cpu, form(text), devices, opts)
    assert str(raised.value) == (
        "the program calls 1 or more Python functions, but 0 were given: "
        "pass all of them as host_callbacks"
    )
    with pytest.raises(ValueError, match="calls 3 or more Python functions, but 1 were given"):
        more = text.replace("index = 0", "index = 2")
        execution.compile(cpu, more, devices, opts, [lambda x: (x,)])
    program = execution.compile(cpu, form(text), devices, opts, [lambda x: (x,)])
    with pytest.raises(ValueError, match="pass all of them as host_callbacks"):
        execution.deserialize(cpu, execution.serialize(cpu, program), devices)


def test_functions_of_buffers_must_be_given_too():
    body = BODY.format(target=callbacks.BUFFER_TARGET, type="tensor<3xf32>")
    for program in (body, body.encode()):
        with pytest.raises(ValueError, match="but 0 were given"):
            callbacks.require_callbacks(program, 0)
    callbacks.require_callbacks(body, 1)


def test_an_exception_of_a_function_of_buffers_is_found():
    error = KeyError("a")

    def fails(*buffers):
        raise error

    with pytest.raises(callbacks.CallbackFailed) as result:
        callbacks.keeping_exceptions(fails)()
    assert callbacks.exception_behind(result.value) is error
