"""Errors over pytrees: which tree differs, where, and in what."""

from __future__ import annotations

import collections
import dataclasses

import pytest

from dovetail_core import tree
from dovetail_tree import util as tu

Point = collections.namedtuple("Point", "x y")


@tu.register_pytree_node_class
class Pair:
    def __init__(self, left, right):
        self.left, self.right = left, right

    def tree_flatten(self):
        return (self.left, self.right), "aux"

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)


@tu.register_dataclass
@dataclasses.dataclass
class Layer:
    w: object
    b: object = 0
    name: str = tree.static(default="layer")


@pytest.mark.parametrize(
    ("a", "b", "lines"),
    [
        ([1, 2], [1, 2], []),
        (1, 2, []),
        (1, [2], ["at the root: a leaf of type int against list with 1 child"]),
        ([1, 2], (1, 2), ["at the root: list with 2 children against tuple with 2 children"]),
        ({"a": [1, 2]}, {"a": [1]}, ["at ['a']: list of length 2 against length 1"]),
        (
            {"a": 1, "b": 1, "c": [1]},
            {"a": 1, "d": 1, "c": (1,)},
            [
                "at the root: dict with different entries: ['b'] only in the first; "
                "['d'] only in the second",
                "at ['c']: list with 1 child against tuple with 1 child",
            ],
        ),
        ([{"x": None}], [{"x": 3}], ["at [0]['x']: None against a leaf of type int"]),
        (
            [Layer(1, 2, "n")],
            [Layer(1, [2], "m")],
            [
                "at [0]: Layer with metadata ('n',) against ('m',)",
                "at [0].b: a leaf of type int against list with 1 child",
            ],
        ),
        (Pair(1, 2), Pair(1, (2,)), [
            "at [<flat index 1>]: a leaf of type int against tuple with 1 child"
        ]),
        (Point(1, 2), Point(1, None), ["at .y: a leaf of type int against None"]),
        (
            collections.OrderedDict(a=1, b=2),
            collections.OrderedDict(b=2, a=1),
            ["at the root: OrderedDict with metadata ('a', 'b') against ('b', 'a')"],
        ),
    ],
)  # fmt: skip
def test_differences_are_listed(a, b, lines):
    assert tu.tree_differences(a, b) == lines
    assert (tu.tree_structure(a) == tu.tree_structure(b)) == (not lines)


@pytest.mark.parametrize(
    ("a", "b", "line"),
    [
        ({"a": [1, Point(2, 3)]}, {"a": [1, Point(2, None)]}, "at ['a'][1].y: a leaf against None"),
        (
            collections.OrderedDict(a=1),
            collections.OrderedDict(a=[1]),
            "at ['a']: a leaf against list with 1 child",
        ),
        (Layer(1, 2), Layer(1, (2,)), "at .b: a leaf against tuple with 1 child"),
    ],
)
def test_differences_of_structures_alone_have_paths_too(a, b, line):
    assert tu.tree_differences(tu.tree_structure(a), tu.tree_structure(b)) == [line]
    assert tu.tree_differences(tu.tree_structure(a), b)[0].split(":")[0] == line.split(":")[0]
    assert tu.tree_differences(tu.tree_structure(a), a) == []


def test_a_container_that_cannot_be_rebuilt_is_numbered():
    class Picky:
        def __init__(self, value):
            if value in (None, [None]):
                raise TypeError("needs a value")
            self.value = value

    tu.register_pytree_with_keys(
        Picky, lambda p: ([(tu.GetAttrKey("value"), p.value)], None), lambda _, c: Picky(*c)
    )
    structures = tu.tree_structure(Picky(1)), tu.tree_structure(Picky([1]))
    assert tu.tree_differences(*structures) == [
        "at [<flat index 0>]: a leaf against list with 1 child"
    ]
    assert tu.tree_differences(structures[0], Picky([1])) == [
        "at .value: a leaf against list with 1 child"
    ]


def test_metadata_without_a_plain_comparison_counts_as_different():
    class Odd:
        def __eq__(self, other):
            raise RuntimeError("no truth value")

        __hash__ = None

    class Holder:
        def __init__(self, aux):
            self.aux = aux

    tu.register_pytree_node(Holder, lambda h: ((), h.aux), lambda aux, _: Holder(aux))
    (line,) = tu.tree_differences(Holder(Odd()), Holder(Odd()))
    assert line.startswith("at the root: Holder with metadata")


@pytest.mark.parametrize("name", ["tree_map", "tree_map_with_path"])
def test_mapping_over_different_structures_says_which_where_and_what_to_do(name):
    with pytest.raises(ValueError) as raised:
        getattr(tu, name)(lambda *xs: xs, {"a": [1, 2]}, {"a": [1, 2]}, {"a": (1, 2)})
    first, _, rest = str(raised.value).partition(":\n")
    assert first.startswith(f"{name}: tree 3 does not have the structure of the first tree at ")
    assert "test_tree_errors.py" in first
    assert rest == (
        "  at ['a']: list with 2 children against tuple with 2 children\n"
        "Give all trees one structure, or pass is_leaf to treat the node there as a leaf of the "
        "first tree."
    )


def test_an_error_inside_a_users_flatten_function_is_passed_on():
    class Broken:
        pass

    def flatten(tree):
        raise ValueError("from the user")

    tu.register_pytree_node(Broken, flatten, lambda aux, children: Broken())
    with pytest.raises(ValueError, match="from the user"):
        tu.tree_map(lambda x: x, [Broken()])


@pytest.mark.parametrize(
    "use",
    [tu.tree_leaves, tu.tree_structure, tu.tree_flatten_with_path,
     lambda t: tu.tree_map(lambda x: x, t)],
)  # fmt: skip
@pytest.mark.parametrize("wrap", [lambda t: [t], lambda t: (t, 1), lambda t: {"a": t}])
def test_a_tree_that_is_too_deep_is_refused_in_words(use, wrap):
    deep = 1.0
    for _ in range(10_000):
        deep = wrap(deep)
    with pytest.raises(RecursionError) as e:
        use(deep)
    text = str(e.value)
    assert text.startswith("a pytree is nested more deeply at ")
    assert "limited to 1000 frames" in text and "or it contains itself" in text
    assert "sys.setrecursionlimit(...)" in text
    assert tu.tree_leaves([1, [2]]) == [1, 2]


def test_a_tree_that_contains_itself_is_refused():
    circle = []
    circle.append(circle)
    with pytest.raises(RecursionError, match="or it contains itself"):
        tu.tree_leaves(circle)
