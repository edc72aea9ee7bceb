"""Classes of JAX's interface whose instances are all those of a class of Dovetail."""

from __future__ import annotations

from typing import Any


class Covering(type):
    """Metaclass: what is an instance of the first base is one of the class, too.

    So authors make objects of the class, which takes what JAX's takes, and find Dovetail's own by
    ``isinstance``; a class below it is an ordinary one.
    """

    def __instancecheck__(cls, instance: Any) -> bool:
        base = cls.__dict__.get("_covers")
        return super().__instancecheck__(instance) or (
            base is not None and isinstance(instance, base)
        )

    def __subclasscheck__(cls, subclass: type) -> bool:
        base = cls.__dict__.get("_covers")
        return super().__subclasscheck__(subclass) or (
            base is not None and issubclass(subclass, base)
        )
