"""Rotations against SciPy's: conversions, composition, interpolation, derivatives, bad input."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from reference_backend import check_grads, program, run, value_of
from scipy.spatial.transform import Rotation as Theirs, Slerp as TheirSlerp

import dovetail_numpy as dnp
import dovetail_random as random
from dovetail_ad import jacrev
from dovetail_batching import vmap
from dovetail_core import enable_x64
from dovetail_jit import jit
from dovetail_scipy.spatial.transform import Rotation, Slerp

RNG = np.random.default_rng(0)
QUATS = np.concatenate(
    [RNG.normal(size=(20, 4)), np.eye(4), -np.eye(4), [[1, 1, 0, 0], [1e-6, 0, 0, 1]]]
)
ROTVECS = np.concatenate([RNG.normal(size=(20, 3)) * 2, np.zeros((1, 3)), np.eye(3) * 1e-7])
OUT = ["as_matrix", "as_rotvec", "as_mrp", "magnitude"]


def same(ours: Rotation, theirs: Any, atol: float = 1e-6) -> None:
    np.testing.assert_allclose(ours.as_matrix(), theirs.as_matrix(), atol=atol)


def everything(R: Any, quats: Any, rotvecs: Any, weights: Any, matrices: Any, mrps: Any) -> Any:
    """Results of conversions, products and means by either library."""
    r = R.from_quat(quats)
    turns = {
        "from_matrix": R.from_matrix(matrices),
        "from_mrp": R.from_mrp(mrps),
        "from_rotvec": R.from_rotvec(rotvecs),
        "of degrees": R.from_rotvec(rotvecs * 50, True),
        "in degrees and back": R.from_rotvec(r.as_rotvec(True), True),
        "inv": r.inv(),
        "with one": r * r[3],
        "one with": r[3] * r,
        "part": r[4:9],
        "mean": r.mean(),
        "weighted mean": r.mean(weights),
    }
    result = {name: turn.as_matrix() for name, turn in turns.items()}
    result |= {name: getattr(r, name)() for name in OUT}
    result |= {f"{name} of one": getattr(r[0], name)() for name in OUT}
    quats = {"canonical": r.as_quat(True), "scalar first": r.as_quat(scalar_first=True)}
    return result | quats


@pytest.mark.parametrize("x64", [False, True])
def test_conversions(x64: bool) -> None:
    theirs = Theirs.from_quat(QUATS)
    weights = RNG.uniform(size=len(QUATS))
    args = QUATS, ROTVECS, weights, theirs.as_matrix(), theirs.as_mrp()
    f = lambda *args: everything(Rotation, *args)  # noqa: E731
    with enable_x64(x64):
        ours = (program(f, *args) if x64 else jit(f))(*args)
    wanted = everything(Theirs, *args)
    flips = np.abs(theirs.as_quat()[:, 3]) < 1e-6  # half turns about either end of the axis
    for name, want in wanted.items():
        kept = ~flips if name in ("as_rotvec", "as_mrp") else ...
        atol = 1e-13 if x64 else 3e-6
        atol = max(atol, 5e-6) if name == "of degrees" else atol
        result = np.asarray(ours[name])
        assert result.dtype == (np.float64 if x64 else np.float32)
        np.testing.assert_allclose(result[kept], want[kept], atol=atol, err_msg=name)


SEQUENCES = ["".join(s) for s in product("xyz", repeat=3) if s[0] != s[1] != s[2]]


@pytest.mark.parametrize("seq", [*SEQUENCES, *(s.upper() for s in SEQUENCES)])
def test_euler_angles(seq: str) -> None:
    quats = QUATS[:6]
    with enable_x64(True):
        theirs = Theirs.from_quat(quats)
        angles = run(lambda q: Rotation(q).as_euler(seq), theirs.as_quat())
        np.testing.assert_allclose(angles, theirs.as_euler(seq), atol=1e-12)
        turn = lambda a: Rotation.from_euler(seq, a, True).as_matrix()  # noqa: E731
        angles = theirs.as_euler(seq, True)
        np.testing.assert_allclose(run(turn, angles), theirs.as_matrix(), atol=1e-13)
        locked = np.asarray([[20.0, 90, 30], [20, 0, 30], [20, 180, 30], [20, -90, 30]])
        again = run(lambda a: turn(Rotation.from_euler(seq, a, True).as_euler(seq, True)), locked)
        np.testing.assert_allclose(again, run(turn, locked), atol=1e-7)


def test_fewer_euler_angles() -> None:
    assert Rotation.from_euler("z", 0.5).single
    assert Rotation.from_euler("z", np.float32([[0.5], [0.2]])).as_quat().shape == (2, 4)
    same(Rotation.from_euler("zx", np.float32([0.5, 1])), Theirs.from_euler("zx", [0.5, 1]))
    same(Rotation.from_euler("Y", 90, True), Theirs.from_euler("Y", 90, True))


def test_vectors_are_rotated() -> None:
    ours, theirs = Rotation.from_quat(QUATS), Theirs.from_quat(QUATS)
    v, many = np.float32([1, 2, 3]), RNG.normal(size=(len(QUATS), 3))

    def turned(r: Any, v: Any, many: Any) -> Any:
        pairs = [(r, v), (r, many), (r[0], many)]
        return [r.apply(v, inverse) for r, v in pairs for inverse in (False, True)]

    for result, want in zip(jit(turned)(ours, v, many), turned(theirs, v, many), strict=True):
        np.testing.assert_allclose(result, want, atol=3e-6)


def test_making() -> None:
    same(Rotation.identity(), Theirs.identity())
    assert Rotation.identity().single and len(Rotation.identity(3)) == 3
    drawn = Rotation.random(random.key(0), 2000)
    np.testing.assert_allclose(np.linalg.norm(drawn.quat, axis=-1), 1, rtol=1e-6)
    np.testing.assert_allclose(np.mean(drawn.as_matrix(), 0), np.zeros((3, 3)), atol=0.06)
    assert Rotation.random(random.key(0)).single
    joined = Rotation.concatenate([drawn, drawn[0]])
    assert len(joined) == 2001 and bool(drawn)
    assert Rotation.from_quat([0, 0, 0, 2]).quat.dtype == np.float32


def test_transformations() -> None:
    """Rotations are pytrees, through which values are mapped and compiled."""
    r = Rotation.from_quat(QUATS.astype(np.float32))
    v = np.float32([1, 2, 3])
    f = lambda r: (r * r).inv().apply(v)  # noqa: E731
    np.testing.assert_allclose(jit(vmap(f))(r), value_of(f, r), atol=2e-6)


def test_derivatives() -> None:
    """Of both orders; at the identity, too, where lengths have none."""
    with enable_x64(True):
        q, v = QUATS[0], RNG.normal(size=3)
        m = Theirs.from_quat(q).as_matrix()
        for x in (v, np.zeros(3), v * 1e-2):
            check_grads(lambda x: Rotation.from_rotvec(x).as_matrix(), (x,), 2)
            check_grads(lambda x: Rotation.from_rotvec(x).as_rotvec(), (x,), 2)
            check_grads(lambda x: Rotation.from_mrp(x).as_mrp(), (x,), 2)
        check_grads(lambda q: Rotation.from_quat(q).as_rotvec(), (q,), 2)
        check_grads(lambda q: Rotation.from_quat(q).magnitude(), (q,), 2)
        check_grads(lambda m: Rotation.from_matrix(m).as_quat(), (m,), 1)
        check_grads(lambda a: Rotation.from_euler("xyz", a).as_euler("ZXZ"), (v,), 1)
        result = run(jacrev(lambda v: Rotation.from_rotvec(v).as_rotvec()), np.zeros(3))
    np.testing.assert_array_equal(result, np.eye(3))


def test_slerp() -> None:
    times = np.asarray([0.0, 1, 3])
    ours = Slerp.init(times.astype(np.float32), Rotation.from_quat(QUATS[:3]))
    theirs = TheirSlerp(times, Theirs.from_quat(QUATS[:3]))
    at = np.linspace(0, 3, 13)

    def rotations(slerp: Slerp, at: Any) -> Any:
        beyond, last, before = (slerp(np.float32(t)) for t in (4.0, 3.0, 2.0))
        steps = (before.inv() * last).as_quat(), (last.inv() * beyond).as_quat()
        assert slerp(0.5).single
        return slerp(at).as_matrix(), slerp(0.5).as_matrix(), steps

    many, one, steps = value_of(rotations, ours, at.astype(np.float32))
    np.testing.assert_allclose(many, theirs(at).as_matrix(), atol=3e-6)
    np.testing.assert_allclose(one, theirs(0.5).as_matrix(), atol=3e-6)
    np.testing.assert_allclose(*steps, atol=1e-6)
    compiled = jit(lambda s, t: s(t).as_matrix())(ours, at.astype(np.float32))
    np.testing.assert_allclose(compiled, many, atol=3e-6)
    with enable_x64(True):

        def at_time(t: Any) -> Any:
            return Slerp.init(times, Rotation.from_quat(QUATS[:3]))(t).as_quat()

        check_grads(at_time, (0.7,), 1)


ONE = Rotation(dnp.asarray([0, 0, 0, 1.0]))
TWO = Rotation.identity(2)
WRONG: dict[str, tuple[Any, type[Exception], str]] = {
    "shape": (
        lambda: Rotation.from_quat(np.ones(3)),
        ValueError,
        "dimensions are (4,), got shape (3,)",
    ),
    "matrix": (lambda: Rotation.from_matrix(np.eye(4)), ValueError, "(3, 3), got shape (4, 4)"),
    "scalar": (
        lambda: Rotation.from_rotvec(1.0),
        ValueError,
        "Rotation.from_rotvec takes an array",
    ),
    "vectors": (lambda: ONE.apply(np.ones(2)), ValueError, "Rotation.apply takes an array"),
    "angles": (lambda: Rotation.from_euler("xy", 1.0), ValueError, "(2,), got shape (1,)"),
    "axes": (lambda: ONE.as_euler("xyX"), ValueError, "seq must be 3 letters of 'xyz' or of 'XYZ'"),
    "twice": (lambda: ONE.as_euler("xxz"), ValueError, "none twice in succession, got 'xxz'"),
    "none": (lambda: Rotation.from_euler("", 1.0), ValueError, "must be 1 to 3 letters"),
    "length": (lambda: len(ONE), TypeError, "a single Rotation has no length"),
    "element": (lambda: ONE[0], TypeError, "a single Rotation has no elements"),
    "weights": (lambda: TWO.mean(np.ones(3)), ValueError, "Rotation.mean: weights"),
    "num": (lambda: Rotation.identity(2.5), TypeError, "Rotation.identity: num must be an integer"),
    "rotations": (lambda: Slerp.init(np.ones(2), 3), TypeError, "rotations must be a Rotation"),
    "single": (lambda: Slerp.init(np.ones(1), ONE), ValueError, "rotations must be two or more"),
    "times": (lambda: Slerp.init(np.ones(3), TWO), ValueError, "times must be a vector of 2"),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors(name: str) -> None:
    call, kind, text = WRONG[name]
    with pytest.raises(kind) as e:
        call()
    assert text in str(e.value) and "test_transform.py" in str(e.value)


def test_other_factors_are_refused() -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        ONE * 3  # type: ignore[operator]
