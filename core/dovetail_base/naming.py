"""Name scopes: nested names, joined by slashes, with transformations written around them.

``jvp(model)/layer`` is the scope ``layer`` of ``model``, differentiated. A transformation in which
no scope has been opened yet ends in empty parentheses, ``jvp()``: the next name is put into them.
"""

from __future__ import annotations

import re

from dovetail_base.caches import cached


def inside(outer: str, name: str) -> str:
    """The scope ``name`` within ``outer``."""
    if not outer:
        return name
    at = _position(outer)
    return f"{outer}/{name}" if at < 0 else outer[:at] + name + outer[at:]


def transformed(outer: str, transformation: str) -> str:
    """The scope of the operations that a transformation is applied to within ``outer``."""
    return inside(outer, f"{transformation}()")


def parts(scope: str) -> list[str]:
    """The names of a scope, outermost first, each with the transformations around it."""
    if "(" not in scope:
        return scope.split("/") if scope else []
    result, depth = [""], 0
    for c in scope:
        depth += (c == "(") - (c == ")")
        if c == "/" and depth <= 0:
            result.append("")
        else:
            result[-1] += c
    return result


@cached
def moved(scope: str, outer: str, to: str) -> str:
    """``scope``, taken relative to ``outer`` if it is within that, as a scope within ``to``."""
    first, *rest = parts(beyond(scope, outer)) or [""]
    return "/".join([inside(to, first) if first else to, *rest])


def beyond(scope: str, outer: str) -> str:
    """``scope`` relative to ``outer``; ``scope`` itself if it is not within ``outer``."""
    at = _position(outer)
    if at < 0:
        if outer and (scope + "/").startswith(outer + "/"):
            return scope[len(outer) + 1 :]
        return scope
    if not scope.startswith(outer[:at]):
        return scope
    depth = len(outer) - at  # the parentheses around the first name that end behind it
    for i, c in enumerate(scope[at:], at):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            end = i + 1 - (len(outer) - at)
            return scope[at:end] + scope[i + 1 :]
    return scope


def without_transformations(scope: str) -> str:
    """The names of a scope without transformations: the scopes that the user opened."""
    if "(" not in scope:
        return scope
    names = re.sub(r"\w+\(", "", scope).replace(")", "")
    return "/".join(filter(None, names.split("/")))


def _position(outer: str) -> int:
    """The index in ``outer`` at which the next name is inserted; -1: it is appended."""
    if not outer.endswith(")"):
        return -1
    at = outer.rfind("()") + 1
    return at if at and not outer[at:].strip(")") else -1
