"""Pytrees: JAX's functions and semantics, and errors that say where two structures differ."""

from __future__ import annotations

import collections
import dataclasses
import functools
import pickle
from typing import Any

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
        assert aux == "aux"
        return cls(*children)


@tu.register_pytree_with_keys_class
class Keyed:
    def __init__(self, a):
        self.a = a

    def tree_flatten_with_keys(self):
        return ((tu.GetAttrKey("a"), self.a),), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)


@tu.register_dataclass
@dataclasses.dataclass
class Layer:
    w: object
    b: object = 0
    name: str = tree.static(default="layer")


@tu.register_static
class Mode(str):
    pass


NESTED = {"b": [1, (2, None)], "a": Point(3, Layer(4, 5, "n"))}


def test_leaves_come_in_the_fixed_order_and_go_back():
    leaves, treedef = tu.tree_flatten(NESTED)
    assert leaves == [3, 4, 5, 1, 2]
    assert treedef.num_leaves == 5
    assert tu.tree_unflatten(treedef, leaves) == NESTED
    assert tu.tree_unflatten(treedef, iter("vwxyz"))["b"] == ["y", ("z", None)]
    assert (tu.tree_leaves(NESTED), tu.tree_structure(NESTED)) == (leaves, treedef)


def test_is_leaf_stops_the_descent():
    def stop(node):
        return isinstance(node, tuple) or node is None

    assert tu.tree_leaves(NESTED, is_leaf=stop) == [Point(3, Layer(4, 5, "n")), 1, (2, None)]
    assert tu.tree_structure([None], is_leaf=stop).num_leaves == 1
    assert tu.tree_map(len, [(1, 2), (3,)], is_leaf=stop) == [2, 1]


def test_the_wrong_number_of_leaves_is_refused():
    treedef = tu.tree_structure([1, 2])
    with pytest.raises(ValueError, match="Too few leaves for PyTreeDef; expected 2, got 1"):
        tu.tree_unflatten(treedef, [1])
    with pytest.raises(ValueError, match="Too many leaves"):
        tu.tree_unflatten(treedef, [1, 2, 3])


def test_subclasses_of_containers_are_leaves():
    class MyList(list):
        pass

    assert tu.tree_leaves([MyList([1, 2])]) == [[1, 2]]


def test_map_goes_over_several_trees_and_lets_them_go_deeper():
    assert tu.tree_map(lambda x: x + 1, {"a": [1, 2]}) == {"a": [2, 3]}
    result = tu.tree_map(lambda x, y: (x, y), {"a": 1, "b": 2}, {"a": [1, 2], "b": None})
    assert result == {"a": (1, [1, 2]), "b": (2, None)}


def test_ordered_and_default_dicts_are_containers():
    ordered = collections.OrderedDict(b=1, a=2)
    default = collections.defaultdict(list, b=1, a=2)
    assert tu.tree_leaves(ordered) == [1, 2]
    assert tu.tree_leaves(default) == [2, 1]
    for container in (ordered, default):
        mapped = tu.tree_map(lambda x: -x, container)
        assert type(mapped) is type(container)
        assert mapped == {"b": -1, "a": -2}
    assert tu.tree_map(lambda x: x, default).default_factory is list
    assert list(tu.tree_map(lambda x: x, ordered)) == ["b", "a"]


def test_reductions():
    assert tu.tree_reduce(lambda x, y: x + y, [1, (2, 3)]) == 6
    assert tu.tree_reduce(lambda x, y: [*x, y], [1, (2, 3)], []) == [1, 2, 3]
    assert tu.tree_reduce(lambda x, y: (x, y), [1], None) == (None, 1)
    assert tu.tree_reduce_associative(lambda x, y: x + y, list("abcde")) == "abcde"
    assert tu.tree_reduce_associative(max, [], identity=7) == 7
    assert tu.tree_all([True, (1, "x")])
    assert not tu.tree_all([True, 0])
    assert tu.tree_all({})


def test_associative_reduction_is_balanced():
    deep = tu.tree_reduce_associative(lambda x, y: 1 + max(x, y), [0] * 1024)
    assert deep == 10


def test_reducing_nothing_needs_a_start():
    with pytest.raises(
        TypeError, match=r"tree_reduce of a tree without leaves at .*: pass `initializer`"
    ):
        tu.tree_reduce(max, [None, ()])
    with pytest.raises(TypeError, match=r"tree without leaves at .*: pass `identity`"):
        tu.tree_reduce_associative(max, {})


def test_transpose_turns_a_tree_of_trees_inside_out():
    outer, inner = tu.tree_structure([0, 0, 0]), tu.tree_structure({"a": 0, "b": (0,)})
    value = [{"a": 1, "b": (2,)}, {"a": 3, "b": (4,)}, {"a": 5, "b": (6,)}]
    expected = {"a": [1, 3, 5], "b": ([2, 4, 6],)}
    assert tu.tree_transpose(outer, inner, value) == expected
    assert tu.tree_transpose(outer, None, value) == expected
    assert tu.tree_transpose(tu.tree_structure([]), inner, []) == {"a": [], "b": ([],)}


def test_transpose_takes_containers_of_other_types():
    outer, inner = tu.tree_structure([0, 0, 0]), tu.tree_structure({"a": 0, "b": 0})
    expected = {"a": [1, 3, 5], "b": [2, 4, 6]}
    for value in (([1, 2], (3, 4), [5, 6]), ({"a": 1, "b": 2}, [3, 4], [5, [6]]), [*range(1, 7)]):
        assert tu.tree_transpose(outer, inner, value) == expected


def test_transposing_another_structure_says_where():
    outer, inner = tu.tree_structure([0, 0]), tu.tree_structure((0, 0))
    with pytest.raises(TypeError) as raised:
        tu.tree_transpose(outer, inner, [(1, 2), (3, 4, 5)])
    assert str(raised.value).splitlines()[1:] == ["  at [1]: tuple of length 2 against length 3"]
    with pytest.raises(ValueError, match="outer structure has no leaves: pass inner_treedef"):
        tu.tree_transpose(tu.tree_structure([]), None, [])


def test_broadcast_repeats_the_leaves_of_a_prefix():
    assert tu.tree_broadcast([1, 2], [(1, 2), {"a": 3}]) == [(1, 1), {"a": 2}]
    assert tu.tree_broadcast(0, [None, [1, 2]]) == [None, [0, 0]]
    assert tu.broadcast_prefix([1, 2], [(1, 2), {"a": 3}]) == [1, 1, 2]
    assert tu.tree_broadcast(
        [(1, 2), 2], [(3, 3), 4], is_leaf=lambda node: isinstance(node, tuple)
    ) == [((1, 2), (1, 2)), 2]
    with pytest.raises(ValueError, match="at the root: list of length 2 against length 1"):
        tu.tree_broadcast([1, 2], [(1, 2)])


def test_paths_lead_to_leaves():
    value = {"k": [1, Layer(2, 3), Point(4, 5)], "p": (Pair(6, 7), Keyed(8))}
    paths = [tu.keystr(path) for path, _ in tu.tree_leaves_with_path(value)]
    assert paths == [
        "['k'][0]", "['k'][1].w", "['k'][1].b", "['k'][2].x", "['k'][2].y",
        "['p'][0][<flat index 0>]", "['p'][0][<flat index 1>]", "['p'][1].a",
    ]  # fmt: skip
    keyed, treedef = tu.tree_flatten_with_path(value)
    assert [leaf for _, leaf in keyed] == tu.tree_leaves(value)
    assert treedef == tu.tree_structure(value)


def test_map_with_path_and_predicates_that_see_the_path():
    result = tu.tree_map_with_path(
        lambda path, x, y: (tu.keystr(path, simple=True, separator="/"), x, y),
        {"a": [1, 2]},
        {"a": [3, 4]},
    )
    assert result == {"a": [("a/0", 1, 3), ("a/1", 2, 4)]}
    results = tu.tree_leaves_with_path(
        [[1, [2]], [3]], lambda path, node: len(path) == 1, is_leaf_takes_path=True
    )
    assert [leaf for _, leaf in results] == [[1, [2]], [3]]
    assert tu.tree_leaves_with_path([None], is_leaf=lambda x: x is None) == [
        ((tu.SequenceKey(0),), None)
    ]


def test_keys_print_as_code_and_simply():
    keys = (
        tu.SequenceKey(1),
        tu.DictKey("a"),
        tu.GetAttrKey("x"),
        tu.FlattenedIndexKey(2),
        "own",
        3,
    )
    assert tu.keystr(keys) == "[1]['a'].x[<flat index 2>]own3"
    assert tu.keystr(keys, simple=True, separator="/") == "1/a/x/2/own/3"
    assert tu.keystr(()) == ""


def test_registered_classes_are_containers():
    left, right = tu.tree_leaves(tu.tree_map(lambda x: x + 1, Pair(1, Keyed(2))))
    assert (left, right) == (2, 3)
    assert tu.tree_leaves(Keyed(8)) == [8]
    assert tu.tree_flatten(Mode("a")) == ([], tu.tree_structure(Mode("a")))
    assert tu.tree_structure(Mode("a")) != tu.tree_structure(Mode("b"))


def test_a_container_may_have_a_quicker_flatten_without_keys():
    class Box:
        def __init__(self, value):
            self.value = value

    used = []

    def with_keys(box):
        used.append("keys")
        return [(tu.GetAttrKey("value"), box.value)], None

    def plain(box):
        used.append("plain")
        return [box.value], None

    tu.register_pytree_with_keys(Box, with_keys, lambda _, children: Box(*children), plain)
    assert tu.tree_leaves(Box(1)) == [1]
    assert tu.tree_leaves_with_path(Box(1)) == [((tu.GetAttrKey("value"),), 1)]
    assert used == ["plain", "keys"]


def test_registering_a_type_twice_is_refused():
    with pytest.raises(ValueError, match=r"Duplicate custom PyTreeDef type registration.*Pair"):
        tu.register_pytree_node_class(Pair)


def test_a_class_without_the_methods_is_refused_by_name():
    class Bare:
        def tree_flatten(self):
            return (), None

    with pytest.raises(TypeError, match=r"Bare cannot be registered .* no `tree_unflatten`"):
        tu.register_pytree_node_class(Bare)
    with pytest.raises(TypeError, match="no `tree_flatten_with_keys`"):
        tu.register_pytree_with_keys_class(Bare)


def test_dataclass_metadata_is_part_of_the_structure():
    layer = Layer(1, 2, "n")
    assert tu.tree_leaves(layer) == [1, 2]
    assert tu.tree_map(lambda x: -x, layer) == Layer(-1, -2, "n")
    assert tu.tree_structure(layer) != tu.tree_structure(Layer(1, 2, "m"))


def _three():
    @dataclasses.dataclass
    class Three:
        x: int
        y: int
        z: int = 4
        derived: int = dataclasses.field(default=0, init=False)

    return Three


def test_dataclass_fields_can_be_listed_and_dropped():
    cls = tu.register_dataclass(_three(), ["x"], ["y"], drop_fields=["z"])
    assert tu.tree_leaves(cls(1, 2, 5)) == [1]
    assert tu.tree_map(lambda x: x, cls(1, 2, 5)) == cls(1, 2, 4)


def test_register_dataclass_works_on_other_classes_given_both_lists():
    class Plain:
        def __init__(self, a, b):
            self.a, self.b = a, b

    tu.register_dataclass(Plain, data_fields=["a"], meta_fields=["b"])
    mapped = tu.tree_map(lambda x: x + 1, Plain(1, "m"))
    assert (mapped.a, mapped.b) == (2, "m")


@pytest.mark.parametrize(
    ("data", "meta", "error", "said"),
    [
        (["x"], [], ValueError, r"Three.*Missing fields: \['y', 'z'\].*drop_fields"),
        (["x", "y", "z", "w"], [], ValueError, r"Three.*Unexpected fields: \['w'\]"),
        (["x", "y", "z", "derived"], [], ValueError, r"Unexpected fields: \['derived'\]"),
        (["x", "y", "z"], ["z"], ValueError, r"must not overlap, but both have \['z'\]"),
        (["x"], None, TypeError, "give both data_fields and meta_fields, or neither"),
    ],
)
def test_wrong_dataclass_fields_are_named(data, meta, error, said):
    with pytest.raises(error, match=said):
        tu.register_dataclass(_three(), data, meta)


def test_a_class_that_is_no_dataclass_needs_the_lists():
    with pytest.raises(TypeError, match="is not a dataclass, so data_fields and meta_fields are"):
        tu.register_dataclass(int)


def test_one_level():
    children, aux = tu.flatten_one_level({"b": 1, "a": [2]})
    assert (tuple(children), tuple(aux)) == (([2], 1), ("a", "b"))
    assert tu.flatten_one_level(collections.OrderedDict(b=1, a=2)) == ([1, 2], ("b", "a"))
    keyed, _ = tu.flatten_one_level_with_keys({"b": 1, "a": [2]})
    assert list(keyed) == [(tu.DictKey("a"), [2]), (tu.DictKey("b"), 1)]
    keyed, _ = tu.flatten_one_level_with_keys(Point(1, 2))
    assert list(keyed) == [(tu.GetAttrKey("x"), 1), (tu.GetAttrKey("y"), 2)]
    for function in (tu.flatten_one_level, tu.flatten_one_level_with_keys):
        with pytest.raises(ValueError, match="can't tree-flatten type: <class 'int'> is a leaf"):
            function(5)


def test_questions_about_structures():
    treedef = tu.tree_structure([1, (2,)])
    assert tu.treedef_children(treedef) == [tu.tree_structure(0), tu.tree_structure((0,))]
    assert tu.treedef_is_leaf(tu.tree_structure(1))
    assert not tu.treedef_is_leaf(treedef)
    assert tu.treedef_tuple(iter(tu.treedef_children(treedef))) == tu.tree_structure((1, (2,)))
    assert [tu.is_tree_node(t) for t in (list, Point, Pair, int, [1])] == [
        True, True, True, False, False,
    ]  # fmt: skip
    assert tu.all_leaves([1, "a"])
    assert not tu.all_leaves([1, (2,)])
    assert tu.all_leaves([1, (2,)], is_leaf=lambda x: isinstance(x, tuple))
    assert tu.default_registry is tu.registry


@pytest.mark.parametrize("value", [NESTED, Pair(1, 2), collections.OrderedDict(a=1), 3, None])
def test_structures_are_hashable_and_picklable(value):
    treedef = tu.tree_structure(value)
    again = pickle.loads(pickle.dumps(treedef))
    assert again == treedef
    assert hash(again) == hash(treedef)


def test_the_registry_is_found_by_its_name():
    assert pickle.loads(pickle.dumps(tu.tree_structure([1]))).unflatten([2]) == [2]
    assert (tu.registry.__module__, tu.registry.__name__) == ("dovetail_tree.util", "registry")


# Partial


def test_partials_are_containers_of_their_arguments():
    partial = tu.Partial(divmod, 7, mode=1)
    assert tu.tree_leaves(partial) == [7, 1]
    doubled = tu.tree_map(lambda x: 2 * x, partial)
    assert isinstance(doubled, tu.Partial)
    assert (doubled.func, doubled.args, doubled.keywords) == (divmod, (14,), {"mode": 2})
    assert tu.Partial(divmod, 7)(2) == (3, 1)
    assert tu.tree_structure(tu.Partial(divmod, 1)) != tu.tree_structure(tu.Partial(max, 1))


def test_a_partial_of_a_partial_keeps_the_inner_arguments_out_of_the_leaves():
    inner = functools.partial(max, 5)
    outer = tu.Partial(inner, 3)
    assert tu.tree_leaves(outer) == [3]
    assert outer(1) == 5
    assert tu.tree_structure(outer) == tu.tree_structure(tu.Partial(inner, 9))
    assert hash(tu.tree_structure(outer)) == hash(tu.tree_structure(tu.Partial(inner, 9)))
    assert "functools.partial(<built-in function max>, 5)" in repr(outer)
    shown: Any = outer.func
    assert (shown.func, shown.args, shown.keywords) == (max, (5,), {})
    assert pickle.loads(pickle.dumps(outer))(7) == 7 and not hasattr(shown, "nothing")


# The short names


def test_the_short_names_do_what_the_long_ones_do():
    for name in tree.__all__:
        if name != "static":
            short, long = getattr(tree, name), getattr(tu, f"tree_{name}")
            assert (short.__name__, long.__name__) == (name, f"tree_{name}")
            assert short.__module__ == "dovetail_tree" and short.__doc__ == long.__doc__
            assert short.__code__.co_code == long.__code__.co_code
            assert pickle.loads(pickle.dumps(short)) is short


def test_static_marks_a_field_and_keeps_other_metadata():
    field = tree.static(default=3, metadata={"unit": "m"})
    assert field.default == 3
    assert dict(field.metadata) == {"unit": "m", "static": True}
    assert dict(tree.static(metadata={"static": False}).metadata) == {"static": False}
