"""The container types of pytrees, and the functions that register further ones."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

from dovetail_base.foreign import reword_errors
from dovetail_base.source import called, here, not_callable, short_repr
from dovetail_xla.bindings import DictKey, GetAttrKey, PyTreeRegistry

T = TypeVar("T")
Class = TypeVar("Class", bound=type)
KeyedChildren = Iterable[tuple[Hashable, Any]]

node_functions: dict[Any, tuple[Any, ...]] = {}
"""The registered facts about container types: two functions, or the names of fields."""

registry = PyTreeRegistry()
"""The C++ registry behind every function here."""

calls = PyTreeRegistry()
"""The registry by which compiled callables take arguments apart: with all containers of the other,
and with values that are leaves to users and several arrays to a compiled program."""

tuples = PyTreeRegistry(
    enable_none=False, enable_namedtuple=False, enable_list=False, enable_dict=False
)
"""A registry that looks into tuples alone."""

# A pickled treedef names its registry by these two, so they must lead back to this object.
registry.__module__ = "dovetail_tree.util"
registry.__name__ = "registry"


def children_with_keys(tree: Any) -> tuple[KeyedChildren, Any] | None:
    """([(key, child), ...], aux) of a container, None for a leaf."""
    kind: Any = tree.__class__
    if fields := named_tuple_fields(kind):
        # jaxlib 0.10 gives every entry of a named tuple the name of the first.
        return [(GetAttrKey(f), v) for f, v in zip(fields, tree, strict=True)], kind
    return registry.flatten_one_level_with_keys(tree)


def named_tuple_fields(kind: Any) -> tuple[str, ...]:
    """The fields of a named tuple type; () for other types."""
    return getattr(kind, "_fields", ()) if tuple in kind.__mro__ else ()


def register_pytree_node(
    nodetype: type[T],
    flatten_func: Callable[[T], tuple[Iterable[Any], Any]],
    unflatten_func: Callable[[Any, Any], T],
    flatten_with_keys_func: Callable[[T], tuple[KeyedChildren, Any]] | None = None,
) -> None:
    """Makes `nodetype` a container: `flatten_func(x) -> (children, aux)`, and back from both.

    `aux` must be hashable and comparable. Subclasses are not included. `flatten_with_keys_func`
    gives `(key, child)` pairs for paths. Raises ValueError if the type is registered already.
    """
    functions = {"flatten_func": flatten_func, "unflatten_func": unflatten_func}
    if flatten_with_keys_func is not None:
        functions["flatten_with_keys_func"] = flatten_with_keys_func
    for argument, value in functions.items():
        if not callable(value):
            raise not_callable(argument, value)
    _check_class(nodetype)
    if nodetype in (bool, int, float, complex):
        raise ValueError(
            f"{nodetype.__name__} cannot be a pytree node{called()}: numbers are leaves "
            "everywhere. Register a class of your own."
        )
    registry.register_node(nodetype, flatten_func, unflatten_func, flatten_with_keys_func)
    calls.register_node(nodetype, flatten_func, unflatten_func, None)
    node_functions[nodetype] = flatten_func, unflatten_func


def functions_of(nodetype: Any) -> tuple[Any, ...]:
    """The registered facts about a container type: two functions, or the names of its fields."""
    return node_functions.get(nodetype, ())


def register_parts(
    nodetype: type[T],
    flatten_func: Callable[[T], tuple[Iterable[Any], Any]],
    unflatten_func: Callable[[Any, Any], T],
) -> None:
    """Registers the arrays that values of a high type, which are leaves, consist of.

    Calls of compiled programs with such values can then be repeated without Python. The arrays are
    those that the type's ``lower_val`` returns and ``raise_val`` takes, in that order.
    """
    calls.register_node(nodetype, flatten_func, unflatten_func, None)


def _check_class(nodetype: Any) -> None:
    if not isinstance(nodetype, type):
        raise TypeError(
            f"a pytree node is a class, got {short_repr(nodetype)} of type "
            f"{type(nodetype).__name__}{called()}"
        )


def register_pytree_node_class(cls: Class) -> Class:
    """Class decorator: by the methods `tree_flatten(self)` and `tree_unflatten(aux, children)`."""
    register_pytree_node(cls, _method(cls, "tree_flatten"), _method(cls, "tree_unflatten"))
    return cls


def register_pytree_with_keys(
    nodetype: type[T],
    flatten_with_keys: Callable[[T], tuple[KeyedChildren, Any]],
    unflatten_func: Callable[[Any, Any], T],
    flatten_func: Callable[[T], tuple[Iterable[Any], Any]] | None = None,
) -> None:
    """Registers a container with named children: `flatten_with_keys(x) -> (pairs, aux)`."""

    def without_keys(tree: T) -> tuple[Iterable[Any], Any]:
        pairs, aux = flatten_with_keys(tree)
        return [child for _, child in pairs], aux

    register_pytree_node(nodetype, flatten_func or without_keys, unflatten_func, flatten_with_keys)


def register_pytree_with_keys_class(cls: Class) -> Class:
    """Class decorator: by `tree_flatten_with_keys`, `tree_unflatten`, and `tree_flatten` if any."""
    register_pytree_with_keys(
        cls,
        _method(cls, "tree_flatten_with_keys"),
        _method(cls, "tree_unflatten"),
        getattr(cls, "tree_flatten", None),
    )
    return cls


def _method(cls: type, name: str) -> Callable[..., Any]:
    _check_class(cls)
    result = getattr(cls, name, None)
    if result is None:
        raise TypeError(
            f"{cls.__qualname__} cannot be registered as a pytree: it has no `{name}`{here()}"
        )
    return result


def register_static(cls: Class) -> Class:
    """Class decorator: instances have no leaves and are structure (hashable, comparable)."""
    register_pytree_with_keys(cls, lambda obj: ((), obj), lambda obj, _: obj)
    return cls


@reword_errors
def register_dataclass(
    nodetype: Class,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> Class:
    """Makes a dataclass a container of its data fields; meta fields belong to the structure.

    Without lists, fields marked `metadata={"static": True}` (see `tree.static`) are meta and the
    others data. Fields to drop must have defaults. Returns the class, so it works as a decorator.
    Raises TypeError for one list alone or a class that needs both, ValueError for wrong names.
    """
    cls: Any = nodetype
    _check_class(cls)
    data, meta = _dataclass_fields(cls, data_fields, meta_fields)
    if overlap := sorted({*data} & {*meta}):
        raise ValueError(f"data_fields and meta_fields must not overlap, but both have {overlap}")
    if dataclasses.is_dataclass(cls):
        _check_fields(nodetype, {*data, *meta}, {*drop_fields})
    registry.register_dataclass_node(nodetype, data, meta)
    calls.register_dataclass_node(nodetype, data, meta)
    node_functions[nodetype] = tuple(data), tuple(meta)
    return nodetype


def _dataclass_fields(
    nodetype: type, data: Sequence[str] | None, meta: Sequence[str] | None
) -> tuple[list[str], list[str]]:
    if data is not None and meta is not None:
        return list(data), list(meta)
    if data is not None or meta is not None:
        raise TypeError(
            "register_dataclass: give both data_fields and meta_fields, or neither; "
            f"got data_fields={data} and meta_fields={meta}"
        )
    if not dataclasses.is_dataclass(nodetype):
        raise TypeError(
            f"register_dataclass: {nodetype!r} is not a dataclass, so data_fields and meta_fields "
            "are required"
        )
    fields = dataclasses.fields(nodetype)
    static = {f.name for f in fields if f.metadata.get("static", False)}
    return [f.name for f in fields if f.name not in static], [*static]


def _check_fields(nodetype: type, given: set[str], dropped: set[str]) -> None:
    settable = {f.name for f in dataclasses.fields(nodetype) if f.init} - dropped
    head = f"register_dataclass({nodetype.__qualname__}): data_fields and meta_fields must be the "
    if missing := sorted(settable - given):
        raise ValueError(
            f"{head}fields with `init=True`. Missing fields: {missing}. Add them to one of the "
            "two, or to drop_fields if they have defaults."
        )
    if unexpected := sorted(given - settable):
        raise ValueError(
            f"{head}fields with `init=True` and not in drop_fields. Unexpected fields: {unexpected}"
        )


def _register_mappings() -> None:
    def ordered(tree: OrderedDict[Any, Any]) -> tuple[KeyedChildren, Any]:
        return [(DictKey(k), v) for k, v in tree.items()], tuple(tree)

    def default(tree: defaultdict[Any, Any]) -> tuple[KeyedChildren, Any]:
        keys = tuple(sorted(tree))
        return [(DictKey(k), tree[k]) for k in keys], (tree.default_factory, keys)

    register_pytree_with_keys(
        OrderedDict,
        ordered,
        lambda keys, values: OrderedDict(zip(keys, values, strict=True)),
        lambda tree: ([*tree.values()], tuple(tree)),
    )
    register_pytree_with_keys(
        defaultdict,
        default,
        lambda aux, values: defaultdict(aux[0], zip(aux[1], values, strict=True)),
    )


_register_mappings()
