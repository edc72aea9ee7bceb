"""Steps that move elements: shapes, indexing, joining."""

from __future__ import annotations

from .programs import kind_of
from .scope import Rejected, Scope

ANY = "fciub"


def _both(s: Scope, kind: str, text: str, *args: str) -> None:
    """A step with one text, in which ``xp`` is the library."""
    s.add(kind, text.replace("xp.", "dnp."), text.replace("xp.", "np."), *args)


def reshape(s: Scope) -> None:
    a = s.like(ANY)
    n, shapes = s.values[a].size, [(-1,), (1, -1), (-1, 1)]
    shapes += [(d, -1) for d in (2, 3) if n % d == 0] + [(2, -1, 2)] * (n % 4 == 0)
    _both(s, "shape", f"{{0}}.reshape({s.rng.choice(shapes)})", a)


def transpose(s: Scope) -> None:
    a = s.like(ANY, 2)
    axes = list(range(s.values[a].ndim))
    s.rng.shuffle(axes)
    _both(s, "shape", f"xp.transpose({{0}}, {tuple(axes)})", a)


def expand(s: Scope) -> None:
    a = s.like(ANY, 0, 2)
    axis = s.rng.randrange(-1, s.values[a].ndim + 1)
    _both(s, "shape", f"xp.expand_dims({{0}}, {axis})", a)


def squeeze(s: Scope) -> None:
    a = s.pick(lambda x: 1 in x.shape)
    _both(s, "shape", f"xp.squeeze({{0}}, {s.values[a].shape.index(1)})", a)


def broadcast(s: Scope) -> None:
    a = s.like(ANY, 0, 2)
    shape = (s.rng.choice([2, 3]), *s.values[a].shape)
    _both(s, "shape", f"xp.broadcast_to({{0}}, {shape})", a)


_MOVES = [
    "xp.flip({0}, {axis})",
    "xp.roll({0}, 1, {axis})",
    "xp.roll({0}, -2, {axis})",
    "xp.repeat({0}, 2, {axis})",
    "xp.moveaxis({0}, {axis}, 0)",
    "xp.swapaxes({0}, {axis}, -1)",
    "xp.concatenate([{0}, {0}], {axis})",
    "xp.stack([{0}, {0}], {axis})",
    "xp.split({0}, [1], {axis})[1]",
    "xp.take({0}, np.array([1, 0, 1]), {axis})",
    "xp.delete({0}, 0, {axis})",
    "xp.diff({0}, axis={axis})",
]


def move(s: Scope) -> None:
    a = s.like(ANY, 1)
    axis = s.rng.randrange(s.values[a].ndim)
    text = s.rng.choice(_MOVES).replace("{axis}", str(axis))
    n = s.values[a].shape[axis]
    if (n < 2 and ("[1" in text or "diff" in text)) or (
        s.values[a].dtype == bool and "diff" in text
    ):
        raise Rejected
    _both(s, "shape", text, a)


def join(s: Scope) -> None:
    a = s.like(ANY, 1)
    x = s.values[a]
    axis = s.rng.randrange(x.ndim)

    def fits(y):
        same = y.dtype == x.dtype and y.ndim == x.ndim
        return same and all(m == n for i, (m, n) in enumerate(zip(x.shape, y.shape)) if i != axis)

    b = s.pick(fits)
    if s.values[b].shape == x.shape and s.rng.random() < 0.4:
        _both(s, "joining", f"xp.stack([{{0}}, {{1}}], {axis})", a, b)
    else:
        _both(s, "joining", f"xp.concatenate([{{0}}, {{1}}], {axis})", a, b)


def pad(s: Scope) -> None:
    a = s.like("fi", 1, 2)
    low, high, interior = s.rng.choice([(1, 0, 0), (0, 2, 0), (1, 1, 1), (0, 0, 1)])
    n = s.values[a].ndim
    s.add(
        "shape",
        f"lax.pad({{0}}, {{0}}.dtype.type(2), [({low}, {high}, {interior})] * {n})",
        f"padded_numpy({{0}}, {{0}}.dtype.type(2), {low}, {high}, {interior})",
        a,
    )


def triangle(s: Scope) -> None:
    a = s.like("fci", 2)
    _both(s, "shape", s.rng.choice(["xp.tril({0})", "xp.triu({0}, 1)"]), a)


_STATIC = [
    "{0}[0]",
    "{0}[-1]",
    "{0}[::-1]",
    "{0}[1:]",
    "{0}[..., None]",
    "{0}[..., :1]",
    "{0}[None]",
    "{0}[..., -1]",
    "{0}[::2]",
    "{0}[np.array([1, 0, 1])]",
    "{0}[..., np.array([[0, 1], [1, 0]])]",
    "{0}[np.array([True, False] + [True] * ({0}.shape[0] - 2))]",
]


def index(s: Scope) -> None:
    a = s.pick(lambda x: x.ndim >= 1 and x.shape[0] > 1 and x.shape[-1] > 1)
    _both(s, "indexing", s.rng.choice(_STATIC), a)


def pick_by_value(s: Scope) -> None:
    """Indexing by integers that are computed."""
    a = s.pick(lambda x: x.ndim >= 1 and min(x.shape) > 1)
    i = s.pick(lambda x: x.dtype.name == "int32" and x.ndim <= 1)
    n, m = s.values[a].shape[0], s.values[a].shape[-1]
    texts = [
        (f"{{0}}[{{1}} % {n}]", f"{{0}}[{{1}} % {n}]"),
        (f"dnp.take({{0}}, {{1}} % {m}, -1)", f"np.take({{0}}, {{1}} % {m}, -1)"),
    ]
    if s.values[i].ndim == 0:
        texts += [
            (
                "lax.dynamic_index_in_dim({0}, {1}, 0, keepdims=False)",
                f"{{0}}[np.clip(np.where({{1}} < 0, {{1}} + {n}, {{1}}), 0, {n - 1})]",
            ),
            (
                f"lax.dynamic_slice_in_dim({{0}}, abs({{1}}) % {n}, {n - 1}, 0)",
                f"{{0}}[min(abs({{1}}) % {n}, 1):][:{n - 1}]",
            ),
        ]
    ours, numpy = s.rng.choice(texts)
    s.add("indexing", ours, numpy, a, i)


def along(s: Scope) -> None:
    a = s.like("fi", 1, 2)
    x = s.values[a]
    n = max(1, x.shape[-1] - 1)
    _both(s, "indexing", f"xp.take_along_axis({{0}}, xp.argsort(-{{0}}, -1)[..., :{n}], -1)", a)


_METHODS = {"set": "set", "add": "add", "multiply": "multiply", "max": "maximum", "min": "minimum"}


def update(s: Scope) -> None:
    """x.at[...].set and the like, at places that are known or computed."""
    a = s.like("fi", 1)
    x = s.values[a]
    n = x.shape[0]
    b = s.pick(lambda y: y.dtype == x.dtype and y.shape in ((), x.shape[1:]))
    how = s.rng.choice(list(_METHODS))
    places = ["0", "-1", "slice(1, None)", "(Ellipsis, 0)"]
    if how not in ("set", "multiply"):
        places.append("np.array([0, 0])")  # twice to one place
    args = (a, b)
    place = s.rng.choice(places)
    if place.startswith("(") and s.values[b].shape != ():
        raise Rejected
    if s.rng.random() < 0.4:
        args = (a, b, s.pick(lambda y: y.dtype.name == "int32" and y.ndim == 0))
        place = f"{{2}} % {n}"
    once = ", unique_indices=True" if how == "multiply" else ""
    ours = f"dnp.asarray({{0}}).at[{place}].{how}({{1}}{once})"
    s.add("update", ours, f"written_numpy({{0}}, {place}, {{1}}, {_METHODS[how]!r})", *args)


def dynamic_update(s: Scope) -> None:
    a = s.like("fi", 1, 1)
    x = s.values[a]
    b = s.pick(lambda y: y.dtype == x.dtype and y.ndim == 1 and y.size <= x.size)
    i = s.pick(lambda y: y.dtype.name == "int32" and y.ndim == 0)
    room, m = x.size - s.values[b].size, s.values[b].size
    s.add(
        "update",
        f"lax.dynamic_update_slice({{0}}, {{1}}, (abs({{2}}) % {x.size},))",
        f"written_numpy({{0}}, slice(min(abs({{2}}) % {x.size}, {room}), "
        f"min(abs({{2}}) % {x.size}, {room}) + {m}), {{1}})",
        a,
        b,
        i,
    )


def number(s: Scope) -> None:
    """A constant, so that there is something to index by."""
    text = s.rng.choice(
        ["np.array(1, np.int32)", "np.array(2, np.int32)", "np.arange(3, dtype=np.int32)"]
        + ["np.array(True)", "np.array([0.5, -1.5])", "np.array(0.25)"] * ("narrow" not in s.flags)
    )
    s.add("constant", f"dnp.asarray({text})", text)


def by_kind(s: Scope) -> None:
    a = s.like("f", 1)
    n = s.values[a].shape[-1]
    which = s.rng.randrange(3)
    if which == 0 and kind_of(s.values[a].dtype) == "f" and s.values[a].dtype != "bfloat16":
        s.add("nn", "nn.softmax({0})", "softmax_numpy({0})", a)
    elif which == 1 and n > 1:
        _both(s, "shape", "xp.stack(xp.split({0}, [1], -1)[1:], 0)", a)
    else:
        s.add("shape", "lax.rev({0}, (0,))", "np.flip({0}, 0)", a)


OPERATIONS = [
    (4, reshape),
    (4, transpose),
    (2, expand),
    (2, squeeze),
    (2, broadcast),
    (7, move),
    (4, join),
    (2, pad),
    (1, triangle),
    (6, index),
    (4, pick_by_value),
    (1, along),
    (5, update),
    (2, dynamic_update),
    (3, number),
    (2, by_kind),
]
