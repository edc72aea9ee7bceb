"""The stages of ahead-of-time compilation."""

from __future__ import annotations

import copy
import pickle
from functools import wraps
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_batching import vmap
from dovetail_core import ShapedArray, named_scope
from dovetail_jit import ShapeDtypeStruct, eval_shape, jit, make_jaxpr
from dovetail_jit.call import module as lowering
from dovetail_jit.stages import Wrapped
from dovetail_refs import new_ref
from dovetail_tree.util import tree_leaves, tree_structure

X = np.linspace(0.1, 1.0, 4, dtype=np.float32)


def f(x: Any, *, y: Any) -> Any:
    return {"z": lax.mul(lax.sin(x), y)}


def test_shapes_of_compiled_functions() -> None:
    """Static arguments are values, and what was traced is known: by the call, too."""
    traced: list[Any] = []

    def grow(n: int, x: Any) -> Any:
        traced.append(n)
        return lax.broadcast(x, (n,))

    g = jit(grow, static_argnums=0)
    assert eval_shape(g, 3, X) == ShapeDtypeStruct((3, 4), np.float32)
    assert g(3, X).shape == eval_shape(g, 3, X).shape and traced == [3]
    double = lambda x: traced.append(x) or lax.add(x, x)  # noqa: E731
    assert eval_shape(double, X) == eval_shape(double, X) == jit(double).eval_shape(X)
    assert len(traced) == 2

    @wraps(g)
    def other(x: Any) -> Any:
        return g(2, x)

    assert eval_shape(other, X).shape == (2, 4)


def test_stages_agree_with_the_call() -> None:
    traced = jit(f).trace(X, y=X)
    assert traced.fun_name == "f" and "sin" in str(traced.jaxpr)
    assert traced.out_info["z"] == ShapeDtypeStruct((4,), np.float32)
    lowered = traced.lower()
    assert "stablehlo.sine" in lowered.as_text() and "sine" in lowered.as_text("hlo")
    compiled = lowered.compile()
    np.testing.assert_allclose(compiled(X, y=X)["z"], np.sin(X) * X, rtol=1e-6)
    assert "ENTRY" in compiled.as_text()
    assert compiled.cost_analysis()["flops"] > 0
    assert compiled.memory_analysis().argument_size_in_bytes == 32
    with pytest.raises(ValueError, match="unknown dialect 'x'"):
        lowered.as_text("x")


def test_stages_need_shapes_only() -> None:
    spec = ShapeDtypeStruct((4,), np.float32)
    compiled = jit(f).lower(spec, y=spec).compile()
    np.testing.assert_allclose(compiled(X, y=X)["z"], np.sin(X) * X, rtol=1e-6)


def g(x: Any, y: Any, *, z: Any, n: int = 2) -> Any:
    return {"a": lax.mul(x["p"], float(n)), "b": (lax.add(y, z),)}


def test_programs_are_traced_once_for_all_who_look_at_them() -> None:
    traced: list[Any] = []
    held = np.arange(100.0, dtype=np.float32)

    def g(n: int, x: Any) -> Any:
        traced.append(n)
        return {"y": lax.add(x, held[:4]), "n": lax.mul(lax.reduce_sum(held, (0,)), x)}

    look = make_jaxpr(g, static_argnums=0)
    program = look(2, X)
    assert make_jaxpr(g, static_argnums=0)(2, X) is program and traced == [2]
    assert eval_shape(jit(g, static_argnums=0), 2, X)["y"] == ShapeDtypeStruct((4,), np.float32)
    same, shapes = make_jaxpr(g, static_argnums=0, return_shape=True)(2, X)
    assert same is program and shapes["n"].shape == (4,) and traced == [2]
    assert jit(g, static_argnums=0)(2, X)["y"].shape == (4,) and traced == [2]
    assert all(c.shape in {(4,), (100,)} for c in program.consts)
    assert look(3, X) is not program and traced == [2, 3]
    assert look(2, ShapeDtypeStruct((4,), np.float32)) is program and len(traced) == 2
    in_axis = make_jaxpr(g, static_argnums=0, axis_env=[("i", 2)])(2, X)
    assert in_axis is not program and len(traced) == 3
    jit(g, static_argnums=0).clear_cache()
    assert look(2, X) is not program and len(traced) == 4


def test_programs_are_lowered_once_for_all_who_look_at_them(monkeypatch: Any) -> None:
    lowered: list[str] = []
    lower_it = lowering.lower

    def note(program: Any, how: lowering.Lowering, *more: Any, **others: Any) -> Any:
        lowered.append(how.platform)
        return lower_it(program, how, *more, **others)

    monkeypatch.setattr(lowering, "lower", note)
    g = jit(lambda x: lax.cos(lax.mul(x, x)))
    text = g.lower(X).as_text()
    assert g.lower(X).as_text() == g.trace(X).lower().as_text() == text and lowered == ["cpu"]
    np.testing.assert_allclose(g.lower(X).compile()(X), np.cos(X * X), rtol=1e-6)
    g.lower(X[:2])
    g.trace(X).lower(lowering_platforms=("cuda",))
    assert lowered == ["cpu", "cpu", "cuda"]
    jit(g, keep_unused=True).lower(X)
    assert len(lowered) == 4


class Described:
    """What has a shape and a dtype, and is no array."""

    shape, dtype = [2, 3], np.dtype(np.float64)


def test_stages_take_what_has_a_shape_and_a_dtype() -> None:
    f = jit(lambda x, n: x * n, static_argnums=1, donate_argnums=0)
    compiled = f.lower(Described(), 2).compile()
    assert compiled.in_avals == (((ShapedArray((2, 3), np.float32),), {}))
    np.testing.assert_array_equal(compiled(np.ones((2, 3), np.float32)), np.full((2, 3), 2))
    for result in (f.eval_shape(Described(), 2), eval_shape(lax.neg, Described())):
        assert result == ShapeDtypeStruct((2, 3), np.float32)
    assert make_jaxpr(lax.neg)(Described()).in_avals == [ShapedArray((2, 3), np.float32)]
    with pytest.raises(TypeError, match=r"args\[0\].*Described.* is not a valid array value"):
        f(Described(), 2)


def test_stages_tell_of_arguments_and_results() -> None:
    args, z = ({"p": X, "q": X[:2]}, X), X
    traced = jit(g, static_argnames="n", donate_argnames="y").trace(*args, z=z, n=3)
    lowered = traced.lower()
    compiled = lowered.compile()
    kind = ShapedArray((4,), np.float32)
    for stage in (traced, lowered, compiled):
        assert stage.in_tree == tree_structure((args, {"z": z}))
        assert stage.out_tree == tree_structure({"a": 0, "b": (0,)})
        ((p, y), kwargs) = stage.in_avals
        assert p == {"p": kind, "q": ShapedArray((2,), np.float32)}
        assert y == kind and kwargs == {"z": kind}
        assert stage.donate_argnums == (2,)
        assert [i.donated for i in tree_leaves(stage.args_info)] == [0, 0, 1, 0]
        (info, _), _ = stage.args_info
        assert info["q"].shape == (2,) and info["q"].dtype == np.float32
        assert stage.out_info["b"][0].shape == (4,)
    assert traced.out_avals == {"a": kind, "b": (kind,)}
    assert isinstance(lowered.compiler_ir("hlo").as_hlo_text(), str)
    with pytest.raises(ValueError, match="unknown dialect 'x': stablehlo and hlo are known"):
        lowered.compiler_ir("x")


def test_executables_tell_where_and_how_arrays_lie() -> None:
    matrix = np.ones((2, 3), np.float32)
    compiled = jit(lambda x, y: (lax.transpose(x, (1, 0)),)).lower(matrix, X).compile()
    here = lax.sin(X).sharding
    assert compiled.input_shardings == ((here, None), {})
    assert compiled.output_shardings == (here,)
    (used, unused), rest = compiled.input_formats
    assert used.layout.major_to_minor == (0, 1) and used.sharding == here and rest == {}
    assert (unused.layout, unused.sharding) == (None, None)
    (out,) = compiled.output_formats
    assert out.sharding == here and sorted(out.layout.major_to_minor) == [0, 1]
    (told,) = compiled.out_info
    assert told == ShapeDtypeStruct((3, 2), np.float32, sharding=here) and "sharding=" in repr(told)
    memory = compiled.memory_analysis()
    assert memory.argument_size_in_bytes == memory.output_size_in_bytes == 24
    assert memory.host_temp_size_in_bytes == 0


def test_stages_of_references_tell_of_their_contents() -> None:
    ref = new_ref(X)
    compiled = jit(lambda r, x: r[...] * x).lower(ref, X).compile()
    (of_ref, of_x), _ = compiled.args_info
    assert of_ref.shape == of_x.shape == (4,) and not of_ref.donated
    assert compiled.input_formats[0][1].sharding is not None
    assert compiled.output_formats.layout.major_to_minor == (0,)


def test_jitted_functions_are_wrapped() -> None:
    for wrapped in (jit(f), jit(g, static_argnames="n"), jit(f, donate_argnums=0)):
        assert isinstance(wrapped, Wrapped)
    assert not isinstance(f, Wrapped)


def test_compiled_functions_cannot_be_transformed() -> None:
    compiled = jit(lambda x: lax.sin(x)).lower(X).compile()
    for call in (jit(lambda x: compiled(x)), vmap(compiled)):
        with pytest.raises(TypeError, match=r"at .*: it runs as it is, and cannot be transformed"):
            call(X)


def test_compiled_functions_refuse_other_types() -> None:
    compiled = jit(f).lower(X, y=X).compile()
    with pytest.raises(TypeError, match=r"the compiled f takes f32\[4\] as leaf 0.*got f32\[2\]"):
        compiled(X[:2], y=X)
    with pytest.raises(TypeError, match="with arguments of structure"):
        compiled(X)


def test_a_call_finds_what_was_compiled_ahead_of_time() -> None:
    g = jit(lambda x: lax.sin(lax.exp(x)))
    executable = g.lower(X).compile()._executable
    g(X)
    assert g.lower(X).compile()._executable is executable
    other = g.lower(X).compile({"xla_backend_optimization_level": 1})._executable
    assert other is not executable


def test_lowering_for_a_platform_that_is_not_here() -> None:
    lowered = jit(lambda x: lax.sin(x)).trace(X).lower(lowering_platforms=("cuda",))
    assert "stablehlo.sine" in lowered.as_text()
    with pytest.raises(ValueError, match=r"lowered for 'cuda', and .* is of platform 'cpu'"):
        lowered.compile()


def test_unknown_compiler_options_are_named() -> None:
    with pytest.raises(ValueError, match="no_such_option"):
        jit(f, compiler_options={"no_such_option": True})(X, y=X)


def test_unused_arguments_are_dropped_unless_kept() -> None:
    def g(x: Any, unused: Any) -> Any:
        return lax.sin(x)

    text = jit(g).lower(X, X).as_text()
    kept = jit(g, keep_unused=True).lower(X, X).as_text()
    assert text.count("%arg1") == 0 and kept.count("%arg1") == 1
    np.testing.assert_allclose(jit(g)(X, X), np.sin(X), rtol=1e-6)


def test_structs_are_immutable_and_are_of_the_types_that_are_enabled():
    s = ShapeDtypeStruct((3,), np.float64)
    assert s.dtype == np.float64 and eval_shape(lambda x: x, s).dtype == np.float32
    assert jit(lambda x: x).lower(s).out_info.dtype == np.float32
    with pytest.raises(RuntimeError, match=r"attribute 'shape' cannot be set.*update"):
        s.shape = ()
    assert pickle.loads(pickle.dumps(s)) == copy.deepcopy(s) == s and not s.is_ref


def test_weak_types_end_where_a_program_is_lowered() -> None:
    traced = jit(lambda x: x * 2).trace(1.0)
    assert traced.out_info.weak_type
    lowered = traced.lower()
    assert not lowered.out_info.weak_type and not lowered.compile().out_info.weak_type


def test_text_names_results_and_tells_where_operations_come_from() -> None:
    def f(x: Any) -> Any:
        with named_scope("inner"):
            y = lax.sin(x["a"])
        _, z = lax.scan(lambda c, v: (c, jit(scaled)(v)), 0.0, y)
        return {"y": y, "z": [z]}

    def scaled(v: Any) -> Any:
        return v * 2.0

    lowered = jit(f).lower({"a": np.ones(3, np.float32)})
    text = lowered.as_text()
    assert "\"result['y']\"" in text and "\"result['z'][0]\"" in text and "loc(" not in text
    located = lowered.as_text(debug_info=True)
    for path in ("jit(f)/inner/sin", "jit(f)/scan/body/jit(scaled)/mul"):
        assert f'"{path}"' in located
    assert "test_stages.py" in located and "x['a']" in located
    # What is shown is the module that is compiled, and does what it says.
    assert lowered.compile()({"a": np.zeros(3, np.float32)})["z"][0].tolist() == [0, 0, 0]


def test_operations_have_names_for_those_who_ask() -> None:
    @named_scope("model")
    def model(x: Any) -> Any:
        y = lax.cond(lax.gt(x, 0.0), lax.sin, lax.cos, x)
        return lax.while_loop(lambda v: lax.lt(v, 3.0), lambda v: lax.add(v, 1.0), y)

    lowered = jit(model).lower(np.float32(1))
    text = lowered.as_text(debug_info=True)
    start = "jit(model)/model"
    for name in ("gt", "cond/branch_1_fun/sin", "cond/branch_0_fun/cos", "while/cond/lt",
                 "while/body/add"):  # fmt: skip
        assert f'"{start}/{name}"' in text
    assert "loc(" not in lowered.as_text()


def test_names_of_operations_where_an_argument_is_donated() -> None:
    lowered = jit(lambda x: lax.mul(x, 2.0), donate_argnums=0).lower(X)
    assert '"jit(<lambda>)/mul"' in lowered.as_text(debug_info=True)
    assert "tf.aliasing_output" in lowered.as_text(debug_info=True)
