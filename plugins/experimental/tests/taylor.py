"""What tests of series share: derivatives along a straight path by ``jet``."""

from __future__ import annotations

from dovetail_experimental.jet import jet, zero_term
from dovetail_tree.util import tree_flatten, tree_map, tree_unflatten


def taylor(f, order):
    """The derivatives of f(x + t v), or along a path with the derivatives given."""

    def derivatives(x, *path):
        leaves, structure = tree_flatten(x)
        paths = [tree_flatten(d)[0] for d in path[:order]]
        paths += [[zero_term] * len(leaves)] * (order - len(paths))
        series = [list(terms) for terms in zip(*paths)] or [[] for _ in leaves]
        value, terms = jet(lambda *xs: f(tree_unflatten(structure, xs)), leaves, series)
        each = [tree_map(lambda _, ts, k=k: ts[k], value, terms) for k in range(order)]
        return [value, *each]

    return derivatives
