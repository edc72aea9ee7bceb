"""What ``jit`` is asked for beside its function holds under transformations and in other calls."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail import lax
from dovetail_backends import PjrtBackend
from dovetail_xla.client import make_cpu_client
from dovetail_xla.shardings import SingleDeviceSharding

X = np.arange(3, dtype=np.float32)
HARMLESS = {"xla_embed_ir_in_executable": True}
UNKNOWN = {"no_such_option": True}


def g(x: Any) -> Any:
    return dnp.sin(x) * x


AT_REST: dict[str, Callable[[Any], Callable[[Any], Any]]] = {
    "call": lambda f: f,
    "grad": lambda f: dt.grad(lambda x: f(x).sum()),
    "vmap": lambda f: dt.vmap(f),
    "vmap of grad": lambda f: dt.vmap(dt.grad(f)),
    "jvp": lambda f: lambda x: dt.jvp(f, (x,), (x,))[1],
    "linearize": lambda f: lambda x: dt.linearize(f, x)[1](x),
    "vjp": lambda f: lambda x: dt.vjp(f, x)[1](x)[0],
    "jacrev": lambda f: dt.jacrev(f),
    "hessian": lambda f: dt.hessian(lambda x: f(x).sum()),
    "linear_transpose": lambda f: lambda x: dt.linear_transpose(lambda y: f(x) * y, x)(x)[0],
}
IN_PROGRAMS: dict[str, Callable[[Any], Callable[[Any], Any]]] = {
    "jit": lambda f: dt.jit(lambda x: f(x) + 1),
    "jit of vmap": lambda f: dt.jit(dt.vmap(f)),
    "jit of grad": lambda f: dt.jit(dt.grad(lambda x: f(x).sum())),
    "scan": lambda f: lambda x: lax.scan(lambda c, _: (f(c), None), x, None, length=2)[0],
    "while": lambda f: lambda x: lax.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, f(c[1])),
                                                (0, x))[1],
    "cond": lambda f: lambda x: lax.cond(x[0] < 1, f, lambda x: x, x),
    "checkpoint": dt.checkpoint,
}  # fmt: skip
at_rest = pytest.mark.parametrize("form", AT_REST.values(), ids=list(AT_REST))
in_programs = pytest.mark.parametrize("form", IN_PROGRAMS.values(), ids=list(IN_PROGRAMS))


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


@at_rest
def test_compiler_options_hold_under_transformations(form: Any) -> None:
    want = form(dt.jit(g))(X)
    np.testing.assert_allclose(form(dt.jit(g, compiler_options=HARMLESS))(X), want, rtol=1e-6)
    np.testing.assert_allclose(
        form(dt.jit(g, compiler_options=HARMLESS, inline=True))(X), want, rtol=1e-6
    )
    with pytest.raises(Exception, match="unknown compiler option 'no_such_option'"):
        form(dt.jit(g, compiler_options=UNKNOWN))(X)


@in_programs
@pytest.mark.parametrize("options", [HARMLESS, UNKNOWN], ids=["known", "unknown"])
def test_compiler_options_within_a_program_are_refused(form: Any, options: Any) -> None:
    with pytest.raises(ValueError, match=r"g, jitted with compiler_options=\{.*\}, is called with"
                                         r"in a program at .* that is compiled as a whole, with "
                                         r"one set of options\. Give compiler_options to the "
                                         r"outermost jit"):  # fmt: skip
        form(dt.jit(g, compiler_options=options))(X)


def test_a_pullback_with_options_is_refused_in_a_program() -> None:
    _, pullback = dt.vjp(dt.jit(g, compiler_options=HARMLESS), X)
    with pytest.raises(ValueError, match=r"g, jitted with compiler_options=.* outermost jit"):
        dt.jit(pullback)(X)


def test_options_are_refused_again_by_each_call_and_when_a_call_is_lowered() -> None:
    f = dt.jit(g, compiler_options=HARMLESS)
    h = dt.jit(lambda x: f(x) + 1)
    for _ in range(6):  # the first of which NumPy may compute
        with pytest.raises(ValueError, match="Give compiler_options to the outermost jit"):
            h(X)
    with pytest.raises(ValueError, match="Give compiler_options to the outermost jit"):
        h.lower(X)
    small = dt.jit(lambda x: x + 1, compiler_options=HARMLESS)
    for _ in range(6):
        with pytest.raises(ValueError, match="Give compiler_options to the outermost jit"):
            lax.cond(True, small, lambda x: x, np.float32(1))


def test_equal_calls_with_other_options_are_compiled_each() -> None:
    seen: list[Any] = []

    def compiled(options: Any) -> Any:
        f = dt.vmap(dt.jit(g, compiler_options=options))
        return f(X)

    for options in (None, HARMLESS, {"xla_embed_ir_in_executable": False}, UNKNOWN):
        try:
            seen.append(np.asarray(compiled(options)))
        except Exception as e:
            seen.append(str(e))
    assert "unknown compiler option" in seen.pop()
    for x in seen:
        np.testing.assert_allclose(x, np.sin(X) * X, rtol=1e-6)


def test_programs_tell_what_is_asked_of_their_calls() -> None:
    f = dt.jit(g, compiler_options=HARMLESS, keep_unused=True, device=dt.devices()[0])
    (eqn,) = dt.make_jaxpr(f)(X).eqns
    assert eqn.params["compiler_options_kvs"] == tuple(HARMLESS.items())
    assert eqn.params["keep_unused"] is True and eqn.params["device"] is dt.devices()[0]
    assert eqn.params["in_shardings"] == (SingleDeviceSharding(dt.devices()[0]),)
    (mapped,) = dt.make_jaxpr(dt.vmap(f))(X).eqns
    assert {k: mapped.params[k] for k in ("compiler_options_kvs", "keep_unused", "device")} == {
        k: eqn.params[k] for k in ("compiler_options_kvs", "keep_unused", "device")
    }
    (plain,) = dt.make_jaxpr(dt.jit(g))(X).eqns
    assert set(dict(plain.params)) == {"jaxpr", "name", "donated_invars"}
    assert plain.params["device"] is None and plain.params["compiler_options_kvs"] == ()


@pytest.fixture(scope="module")
def devices() -> list[Any]:
    """Four devices of a client beside the default one."""
    backend = PjrtBackend("cpu", lambda: make_cpu_client(4), priority=0, available=lambda: "")
    return backend.local_devices()


def told(how: str, f: Any, device: Any) -> Any:
    if how == "device":
        return dt.jit(f, device=device)
    return dt.jit(f, **{how: SingleDeviceSharding(device)})


HOW = pytest.mark.parametrize("how", ["device", "in_shardings", "out_shardings"])


@HOW
@pytest.mark.parametrize("form", [*AT_REST.values(), *IN_PROGRAMS.values()],
                         ids=[*AT_REST, *IN_PROGRAMS])  # fmt: skip
def test_a_device_holds_under_transformations_and_in_programs(
    how: str, form: Any, devices: Any
) -> None:
    device = devices[3]
    result = form(told(how, g, device))(X)
    assert result.devices() == {device} and result.committed
    np.testing.assert_allclose(result, form(g)(X), rtol=1e-5, atol=1e-6)


def test_arguments_are_moved_to_the_device_where_the_call_is_one_of_its_own(devices: Any) -> None:
    one, other = devices[1:3]
    f, x = dt.jit(g, device=other), dt.device_put(X, one)
    for h in (f, dt.vmap(f), dt.grad(lambda x: f(x).sum()), lambda x: dt.jvp(f, (x,), (x,))[1]):
        assert h(x).devices() == {other}
    with pytest.raises(ValueError, match=r"incompatible devices at .*: leaf 0 of its arguments is "
                                         r"on the devices \[1\], a device in the "
                                         r"function on \[2\]"):  # fmt: skip
        dt.jit(lambda x: f(x) + 1)(x)


def test_two_devices_in_one_program_are_refused(devices: Any) -> None:
    one, other = devices[1:3]
    f = dt.jit(g, device=other)
    assert dt.jit(lambda x: f(x), device=other)(X).devices() == {other}
    text = r"the device that jit was given is on the devices \[1\], a device in the "
    with pytest.raises(ValueError, match=text + r"function on \[2\]"):
        dt.jit(lambda x: f(x), device=one)(X)
    with pytest.raises(ValueError, match="incompatible devices"):
        dt.jit(lambda x: f(x), backend="cpu")(X)  # its first device
    with pytest.raises(ValueError, match="incompatible devices"):
        dt.jit(lambda x: f(x) + dt.jit(g, device=one)(x))(X)


def test_a_constraint_to_one_device_holds_in_programs(devices: Any) -> None:
    device = devices[3]

    def f(x: Any) -> Any:
        return lax.with_sharding_constraint(x, SingleDeviceSharding(device)) + 1

    assert dt.jit(f)(X).devices() == {device} and dt.jit(dt.vmap(f))(X).devices() == {device}
    with pytest.raises(ValueError, match="incompatible devices"):
        dt.jit(f)(dt.device_put(X, devices[1]))


def test_the_backend_is_asked_under_transformations() -> None:
    f = dt.jit(g, backend="cpu")
    for form in (*AT_REST.values(), *IN_PROGRAMS.values()):
        np.testing.assert_allclose(form(f)(X), form(g)(X), rtol=1e-5, atol=1e-6)
        with pytest.raises(RuntimeError, match="Unknown backend 'nowhere'"):
            form(dt.jit(g, backend="nowhere"))(X)


def test_a_mapped_call_with_options_reads_and_writes_references() -> None:
    def f(ref: Any, x: Any) -> Any:
        ref[...] = ref[...] + x
        return ref[...] * 2

    h, ref = dt.jit(f, compiler_options=HARMLESS), dt.new_ref(dnp.ones(3))
    np.testing.assert_array_equal(dt.vmap(h)(ref, X), (1 + X) * 2)
    np.testing.assert_array_equal(ref[...], 1 + X)
