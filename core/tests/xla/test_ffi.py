"""Foreign functions: LAPACK, names under which handlers are reached, and plugins' handlers."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from dovetail_xla import arrays, ffi, lapack

LU = """
%r:3 = stablehlo.custom_call @{target}(%a) {{
  api_version = 4 : i32, backend_config = {{}}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
  result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>,
                    dense<> : tensor<0xindex>]
}} : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3xi32>, tensor<i32>)
return %r#0, %r#1 : tensor<3x3xf32>, tensor<3xi32>
"""


@pytest.fixture
def factor(compiled, put):
    """LU factors and pivots (from 1) of a 3x3 matrix, by a target's name."""

    def factor(target, matrix):
        signature = "(%a: tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3xi32>)"
        program = compiled(signature, LU.format(target=target))
        results = program.execute_sharded([put(matrix)]).disassemble_into_single_device_arrays()
        return [arrays.to_numpy(r[0]) for r in results]

    return factor


@pytest.fixture
def matrix():
    return np.array([[1, 2, 3], [4, 5, 6], [7, 8, 10]], np.float32)


def check_factors(matrix, factors, pivots):
    order = np.arange(3)
    for row, pivot in enumerate(pivots - 1):
        order[[row, pivot]] = order[[pivot, row]]
    lower = np.tril(factors, -1) + np.eye(3)
    np.testing.assert_allclose(lower @ np.triu(factors), matrix[order], rtol=1e-5)


def test_lapack_factors_a_matrix(factor, matrix):
    check_factors(matrix, *factor(lapack.target_name("getrf", np.float32), matrix))


@pytest.mark.parametrize(
    ("base", "dtype", "name"),
    [
        ("getrf", np.float32, "lapack_sgetrf_ffi"),
        ("getrf", "f8", "lapack_dgetrf_ffi"),
        ("heevd", np.complex64, "lapack_cheevd_ffi"),
        ("geev", np.complex128, "lapack_zgeev_ffi"),
    ],
)
def test_target_names_carry_the_dtype(base, dtype, name):
    assert lapack.target_name(base, dtype) == name
    assert name in ffi.registered_targets("Host")


def test_lapack_refuses_other_dtypes():
    with pytest.raises(TypeError) as raised:
        lapack.target_name("getrf", np.int32)
    assert str(raised.value) == (
        "LAPACK's getrf takes float32, float64, complex64 or complex128, not int32: "
        "convert the matrix first"
    )


def test_lapack_refuses_unknown_routines():
    with pytest.raises(ValueError, match="no LAPACK routine 'magic' for float64"):
        lapack.target_name("magic", np.float64)


def test_registering_twice_is_harmless():
    lapack.register()
    lapack.register()


def test_a_handler_is_reached_by_the_name_it_was_given(factor, matrix):
    from jaxlib import lapack as jaxlib_lapack

    lapack.target_name("getrf", np.float32)
    (handler,) = (
        handler
        for name, handler, _ in jaxlib_lapack.registrations()["cpu"]
        if name == "lapack_sgetrf_ffi"
    )
    ffi.register_target("dovetail_test_lu", handler)
    check_factors(matrix, *factor("dovetail_test_lu", matrix))


def test_a_capsule_holds_the_address_of_a_function():
    function = ctypes.CDLL(None).getpid
    address = ctypes.pythonapi.PyCapsule_GetPointer
    address.restype, address.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    pointer = ctypes.cast(function, ctypes.c_void_p).value
    assert address(ffi.capsule(function), None) == pointer


def test_the_headers_for_writing_handlers_are_there():
    assert (Path(ffi.include_dir()) / "xla" / "ffi" / "api" / "ffi.h").is_file()


def test_a_plugins_own_handlers_are_registered_through_it():
    class Extension:
        def __init__(self):
            self.registered = []

        def register_custom_type(self, c_api, name, info):
            self.registered.append((c_api, name, info))

        def register_custom_call_target(self, c_api, name, handler, platform, *rest):
            self.registered.append((c_api, name, handler))

        def ffi_types(self):
            return {"a_type": {"type_id": 1}}

        def ffi_handlers(self):
            return {"a_handler": 2}

    extension = Extension()
    ffi.attach_plugin("DOVETAIL_TEST", "the api", extension)
    assert extension.registered[0][:2] == ("the api", "a_type")
    assert extension.registered[1][:2] == ("the api", "a_handler")


def test_gpu_libraries_of_a_platform_without_plugin_are_none():
    assert ffi.register_gpu_libraries("NO_SUCH_PLATFORM") == 0
