"""Values of each kind in a digest, and the structure of arguments."""

from __future__ import annotations

import enum
import functools
import types
import weakref
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from dovetail_base.caches import cached
from dovetail_core import Tracer
from dovetail_tree.registry import functions_of, named_tuple_fields, node_functions
from dovetail_xla.arrays import ArrayImpl
from dovetail_xla.client import Device
from dovetail_xla.execution import PjitFunction

from .digest import KINDS, Digest, is_written_in_library
from .functions import add_compiled, add_function
from .libraries import is_library

_CONTAINERS = (list, dict, tuple, set, frozenset, str, bytes, int, float, complex, bytearray)
_CLASS_SKIPPED = frozenset(
    "__dict__ __weakref__ __doc__ __module__ __annotations__ __annotate__ __annotations_cache__ "
    "__firstlineno__ __static_attributes__ __abstractmethods__ _abc_impl __slots__ __match_args__ "
    "__annotate_func__ __orig_bases__ __parameters__".split()
)
_IN_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE: types of C extensions may have it, too
_DESCRIPTORS = (
    types.MethodDescriptorType, types.WrapperDescriptorType, types.GetSetDescriptorType,
    types.MemberDescriptorType, types.ClassMethodDescriptorType, types.MethodWrapperType,
)  # fmt: skip


def new_digest(reads: bool = False) -> Digest:
    """A digest that knows all kinds of values.

    Args:
        reads: whether the user said which files are read.
    """
    return Digest(reads)


def _tracer(digest: Digest, x: Any) -> None:
    raise digest.refuse("a traced value")


def _array(digest: Digest, x: np.ndarray[Any, Any]) -> None:
    if x.dtype.hasobject or type(x) is not np.ndarray:
        raise digest.refuse(f"an array of type {type(x).__name__} and {x.dtype}")
    _dtype(digest, x.dtype)
    digest.tag("array", x.shape, x.flags.f_contiguous and not x.flags.c_contiguous, x.tobytes())


def _scalar(digest: Digest, x: np.generic) -> None:
    _dtype(digest, x.dtype)
    digest.tag("scalar", x.tobytes())


def _dtype(digest: Digest, x: Any) -> None:
    digest.tag("dtype", x.name, x.str, x.descr if x.names else "")


def _device_array(digest: Digest, x: Any) -> None:
    if x.is_deleted():
        raise digest.refuse("an array that was deleted")
    devices = x._sharding._internal_device_list
    if len(devices) != 1 or not isinstance(x.dtype, np.dtype):
        raise digest.refuse("an array on several devices, or of an extended element type")
    digest.tag("device array", x.aval.weak_type, x._committed, [d.id for d in devices])
    _array(digest, np.asarray(x))


def _device(digest: Digest, x: Any) -> None:
    digest.tag("device", x.platform, x.id)


def _list(digest: Digest, x: Any) -> None:
    digest.composite(x.__class__.__name__, ((f"item {i}", part) for i, part in enumerate(x)))


def _dict(digest: Digest, x: Any) -> None:
    digest.tag("dict", len(x))
    for k, v in x.items():
        digest.add(k, "a key")
        digest.add(v, f"item {k!r:.40}")


def _partial(digest: Digest, x: Any) -> None:
    digest.composite("partial", [("func", x.func), ("args", x.args), ("keywords", x.keywords)])
    _attributes(digest, x)


def _method(digest: Digest, x: Any) -> None:
    digest.composite("method", [("method", x.__func__), ("self", x.__self__)])


def _builtin(digest: Digest, x: Any) -> None:
    if isinstance(x.__self__, types.ModuleType) or x.__self__ is None:
        raise digest.refuse(f"the function {x!r} of an extension module that is no library")
    digest.tag("bound", x.__name__)
    digest.add(x.__self__, f"what {x.__name__} is bound to")


def _field(digest: Digest, x: Any) -> None:
    digest.tag("field of a named tuple", x.__reduce__()[1][0])


def _descriptor(digest: Digest, x: Any) -> None:
    digest.tag("descriptor", x.__name__)
    if isinstance(x, types.MethodWrapperType):  # it has the class of what it is bound to, too
        digest.add(x.__self__, f"what {x.__name__} is bound to")
    else:
        digest.add(getattr(x, "__objclass__", None) or x.__self__, x.__name__)


def _wrapped(name: str) -> Callable[[Digest, Any], None]:
    def add(digest: Digest, x: Any) -> None:
        digest.composite(type(x).__name__, [(name, getattr(x, name))])

    return add


def _property(digest: Digest, x: Any) -> None:
    digest.composite("property", [(k, getattr(x, k)) for k in ("fget", "fset", "fdel")])


def _remembering(digest: Digest, x: Any) -> None:
    if x.cache_info().currsize:
        raise digest.refuse(
            f"{x.__qualname__} remembers results (lru_cache), which may be of other values"
        )
    digest.composite("lru_cache", [("function", x.__wrapped__)])


def _namespace(digest: Digest, x: types.SimpleNamespace) -> None:
    digest.composite("namespace", list(vars(x).items()))


def _module(digest: Digest, x: types.ModuleType) -> None:
    digest.module(x, ())


def _cell(digest: Digest, x: Any) -> None:
    try:
        digest.composite("cell", [("content", x.cell_contents)])
    except ValueError:
        digest.tag("empty")


def _enum(digest: Digest, x: Any) -> None:
    digest.tag("member", x.name)
    digest.add(type(x), type(x).__qualname__)


def _class(digest: Digest, x: type) -> None:
    """A class by its bases and all that it has itself."""
    digest.tag("class", x.__module__, x.__qualname__)
    if not x.__flags__ & _IN_PYTHON:
        if x.__module__ == "builtins" or is_library(x.__module__):
            return
        raise digest.refuse(f"the class {x.__qualname__} of an extension module that is no library")
    digest.add(type(x), "its metaclass")
    digest.composite("bases", ((b.__qualname__, b) for b in x.__bases__))
    own = [(k, v) for k, v in vars(x).items() if k not in _CLASS_SKIPPED and not _is_made(k, v)]
    hints = vars(x).get("__annotations__") or {}
    digest.tag("annotations", sorted((k, str(v)) for k, v in hints.items()))
    digest.composite("members", own)
    digest.add(functions_of(x), f"the functions by which {x.__qualname__} is a pytree")


def _is_made(name: str, value: Any) -> bool:
    """Tell whether it is the ``__hash__`` that a dataclass has by its fields. Who gives it to
    ``hash`` is refused, and mappings find by it what they would find by any other."""
    code = getattr(value, "__code__", None)
    return name == "__hash__" and code is not None and code.co_filename == "<string>"


def _unknown(digest: Digest, x: Any) -> None:
    raise digest.refuse(f"a value of type {type(x).__module__}.{type(x).__qualname__}")


def _instance(digest: Digest, x: Any) -> None:
    """An instance of a class that was written in Python: its state is what it has as attributes."""
    cls = type(x)
    if cls.__module__ == "typing" or isinstance(x, (types.GenericAlias, types.UnionType)):
        digest.tag("typing", repr(x))
        return
    if not _is_plain(cls):
        _unknown(digest, x)
    digest.tag("instance")
    digest.add(cls, f"class {cls.__qualname__}")
    for base, add in ((list, _list), (dict, _dict)):
        if isinstance(x, base):
            add(digest, x)
            break
    else:
        for base in _CONTAINERS:
            if isinstance(x, base):
                digest.add(base(x), "content")  # type: ignore[arg-type]
                break
    _attributes(digest, x)


def _attributes(digest: Digest, x: Any) -> None:
    digest.composite("attributes", _state(x))


def _state(x: Any) -> Iterator[tuple[str, Any]]:
    yield from list(getattr(x, "__dict__", {}).items())
    for cls in type(x).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name in ("__dict__", "__weakref__"):
                continue
            private = name.startswith("__") and not name.endswith("__")
            full = f"_{cls.__name__.lstrip('_')}{name}" if private else name
            if hasattr(x, full):
                yield full, getattr(x, full)


def _is_plain(cls: type) -> bool:
    """Tell whether no class of C adds state to its instances that Python does not show."""
    for base in cls.__mro__:
        if base is object or base in _CONTAINERS:
            continue
        if not base.__flags__ & _IN_PYTHON or base.__base__ is None:
            return False
        slots = base.__dict__.get("__slots__", ())
        own = 1 if isinstance(slots, str) else len(tuple(slots))
        own += sum(name in vars(base) for name in ("__dict__", "__weakref__"))
        if base.__basicsize__ - base.__base__.__basicsize__ > 8 * own:
            return False
    return True


class _Fields(NamedTuple):
    a: int


KINDS.update({
    Tracer: _tracer, np.ndarray: _array, np.generic: _scalar, np.dtype: _dtype,
    ArrayImpl: _device_array, Device: _device, functools.partial: _partial,
    types.FunctionType: add_function, types.MethodType: _method,
    types.BuiltinFunctionType: _builtin, types.ModuleType: _module, types.CellType: _cell,
    types.MappingProxyType: _dict, types.SimpleNamespace: _namespace, property: _property,
    staticmethod: _wrapped("__func__"),
    classmethod: _wrapped("__func__"), functools.cached_property: _wrapped("func"),
    functools.partialmethod: _wrapped("func"), PjitFunction: add_compiled, enum.Enum: _enum,
    type(cached(lambda: None)): _remembering, types.GeneratorType: _unknown,
    types.FrameType: _unknown, weakref.ref: _unknown, type: _class,
    object: _instance, **dict.fromkeys(_DESCRIPTORS, _descriptor),
})  # fmt: skip
KINDS[type(vars(_Fields)["a"])] = _field
KINDS[list] = lambda digest, x: _list(digest, x) if type(x) is list else _instance(digest, x)
KINDS[dict] = lambda digest, x: _dict(digest, x) if type(x) is dict else _instance(digest, x)


def add_foreign_nodes(digest: Digest) -> None:
    """Take in how the user made classes of libraries containers: code need not name these."""
    for kind, functions in list(node_functions.items()):
        if is_library(kind.__module__):
            theirs = [f for f in functions if isinstance(f, FunctionType)]
            if not all(map(is_written_in_library, theirs)):
                digest.tag("container", kind.__module__, kind.__qualname__)
                digest.add(functions, f"the functions by which {kind.__qualname__} is a pytree")


def add_structure(digest: Digest, tree: Any) -> None:
    """Take in a structure, with what takes its containers apart and makes them."""
    data = tree.node_data()
    if data is None:
        digest.tag("leaf" if tree.num_leaves else "none")
        return
    kind, aux = data
    children = tree.children()
    digest.tag("node", len(children))
    digest.add(kind, f"the class {kind.__qualname__}")
    if kind not in (tuple, list, type(None)) and not named_tuple_fields(kind):
        digest.add(
            list(aux) if kind is dict else aux, f"what a {kind.__qualname__} is beside arrays"
        )
        if kind is not dict:
            digest.add(
                functions_of(kind), f"the functions by which {kind.__qualname__} is a pytree"
            )
    for child in children:
        add_structure(digest, child)
