"""Tracing of the functions given to control flow, and comparison of the types they return.

The body of a loop is traced until the type of its carry no longer changes. Loops with
``checkpoint=`` are bound by the plugin that provides ``loop_checkpointing``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from dovetail_core import (
    ClosedJaxpr,
    Eqn,
    Jaxpr,
    PluginError,
    ShapedArray,
    Var,
    axis_names,
    callable_name,
    describe_source,
    here,
    manual_axis_types,
    programs,
    registry,
    stage,
    trace_cache,
    typeof,
)
from dovetail_tree.util import (
    keystr,
    tree_differences,
    tree_flatten,
    tree_flatten_with_path,
    tree_unflatten,
)

from ...promotion import TypePromotionError, common_type


class Staged(NamedTuple):
    """A traced function: its program, the values it closes over, its result's structure."""

    jaxpr: Jaxpr
    consts: list[Any]
    out_tree: Any

    @property
    def out_avals(self) -> list[Any]:
        return self.jaxpr.out_avals


def name_of(f: Any) -> str:
    """A function's name, for messages and programs."""
    return callable_name(f)


def check_function(f: Any, what: str) -> None:
    """Raise TypeError unless ``f`` can be called."""
    if not callable(f):
        raise TypeError(f"{what} must be a function, got {f!r} of type {type(f).__name__}{here()}")


def stage_function(f: Callable[..., Any], in_tree: Any, avals: Sequence[Any]) -> Staged:
    """Trace ``f(*args)`` for flat arguments of types ``avals`` and structure ``in_tree``."""
    key = in_tree, tuple(avals)
    cache = trace_cache()
    result: Staged | None = cache.get(f, key)
    if result is not None:
        return result
    trees: list[Any] = []

    def flat(*leaves: Any) -> list[Any]:
        result, tree = tree_flatten(f(*tree_unflatten(in_tree, leaves)))
        trees[:] = [tree]
        for x in result:
            _check_result(x, f)
        return result

    with cache.tracing():
        jaxpr, consts = stage(flat, avals, name_of(f))
        result = Staged(jaxpr, consts, trees[0])
        cache.put(f, key, consts, jaxpr, result)
    return result


def _check_result(x: Any, f: Any) -> None:
    try:
        typeof(x)
    except TypeError as e:
        raise TypeError(
            f"{name_of(f)} returned a value that is not an array{here()}: {e}"
        ) from None


def operand_types(leaves: Sequence[Any], tree: Any, what: str) -> list[Any]:
    """Types of operands; raises TypeError, with its path, for one that is not an array."""
    try:
        return [typeof(x) for x in leaves]
    except TypeError:
        for name, x in zip(paths(tree, ""), leaves):
            try:
                typeof(x)
            except TypeError as e:
                raise type(e)(f"{what}{name}{here()}: {e}") from None
        raise


def close_together(staged: Sequence[Staged]) -> tuple[list[ClosedJaxpr], list[Any]]:
    """Programs that all take, first, the values that any of them closes over."""
    consts: dict[int, Any] = {id(c): c for s in staged for c in s.consts}
    types = {id(c): v.aval for s in staged for c, v in zip(s.consts, s.jaxpr.constvars)}
    closed: list[ClosedJaxpr] = []
    for s in staged:
        own = {id(c): v for c, v in zip(s.consts, s.jaxpr.constvars)}
        leading = [own.get(key) or Var(types[key]) for key in consts]
        moved = s.jaxpr.replace(constvars=[], invars=[*leading, *s.jaxpr.invars])
        closed.append(ClosedJaxpr(moved))
    return closed, list(consts.values())


def with_varying(staged: Sequence[Staged]) -> list[Staged]:
    """Functions that were traced within ``outer_values_vary``, with constants that vary over the
    axes that the traced types have."""
    from ...primitives.collectives import pvary_p

    changed: dict[int, Any] = {}
    for c, v in ((c, v) for s in staged for c, v in zip(s.consts, s.jaxpr.constvars)):
        more = v.aval.vma - typeof(c).vma
        more = more - axis_names.outer_varying_axes(c) if more else more
        if more and id(c) not in changed:
            changed[id(c)] = pvary_p.bind(c, axes=tuple(sorted(more, key=str)))
    return [s._replace(consts=[changed.get(id(c), c) for c in s.consts]) for s in staged]


def refuse_meeting(what: str, staged: Sequence[Staged], vma: frozenset[Any], choice: str) -> None:
    """Raise ValueError if a program that only some devices may run waits for other devices."""
    checked = {a for a in vma if axis_names.manual_axes().get(a)}
    for s in staged:
        for eqn in (
            e
            for p in programs.walk_programs(s.jaxpr)
            for e in programs.open_program(p).eqns
            if checked
        ):
            meets = eqn.primitive.traits.meets
            axes = checked.intersection(meets(eqn.params)) if meets else ()
            if axes:
                axis = sorted(axes, key=str)[0]
                raise ValueError(
                    f"{what}: {s.jaxpr.name} has {eqn.primitive.name!r}"
                    f"{describe_source(eqn.source)}, for which devices along the axis {axis!r} "
                    f"wait for each other, and {choice} may differ along {axis!r}{here()}: some "
                    "of them would never come. Do it outside, or make "
                    f"{choice} equal on all of them (lax.pmax(..., {axis!r}))."
                )


def refuse_mutable(
    what: str, use: str, avals: Sequence[Any], names: Callable[[], Any], sliced: bool = False
) -> None:
    """Raise TypeError for mutable values among those of which each iteration has its own.

    Where iterations have slices (``sliced``), values whose slices are mutable again are allowed.
    """
    for i, aval in enumerate(avals):
        if aval.is_mutable and not (sliced and aval.with_contents(aval.content_types())):
            raise TypeError(
                f"{what}: {names()[i]} is {aval.str_short()}{here()}, which is mutable and cannot "
                f"be {use}. Let the function close over it: the function reads and writes it there."
            )


def leaf_avals(tree: Any) -> list[Any]:
    """Types of a pytree's leaves."""
    return [typeof(x) for x in tree_flatten(tree)[0]]


def paths(tree_def: Any, what: str) -> list[str]:
    """A name per leaf of a structure, for messages."""
    tree = tree_unflatten(tree_def, list(range(tree_def.num_leaves)))
    return [what + keystr(p) for p, _ in tree_flatten_with_path(tree)[0]]


def same_but_weak(a: Any, b: Any) -> bool:
    """True if two types differ at most in weak typing, and in the axes that they vary over."""
    return a is b or a.strong().with_vma(manual_axis_types.NO_AXES) == b.strong().with_vma(
        manual_axis_types.NO_AXES
    )


def check_structure(context: str, a_name: str, a_tree: Any, b_name: str, b_tree: Any) -> None:
    """Raise TypeError if two results have different structures."""
    if a_tree != b_tree:
        raise TypeError(
            f"{context}: {a_name} and {b_name} must have one structure, but they differ: "
            f"{'; '.join(tree_differences(a_tree, b_tree))}{here()}."
        )


def check_types(
    context: str, a_name: str, a: Sequence[Any], b_name: str, b: Sequence[Any], names: Sequence[str]
) -> None:
    """Raise TypeError if two results have different types; weak types may differ."""
    wrong = [
        f"{n} has type {x.str_short()} in {a_name} and {y.str_short()} in {b_name}{_hint(x, y)}"
        for n, x, y in zip(names, a, b)
        if not same_but_weak(x, y)
    ]
    if wrong:
        raise TypeError(f"{context}: types must agree, but {'; '.join(wrong)}{here()}.")


def _hint(x: Any, y: Any) -> str:
    if not (isinstance(x, ShapedArray) and isinstance(y, ShapedArray)):
        return ""
    if x.shape == y.shape and x.dtype == y.dtype and x.divided is not y.divided:
        return " (divide one of them as the other, with dovetail.sharding.reshard)"
    if x.shape == y.shape:
        return f" (convert one of them, for example with .astype({x.dtype.name!r}))"
    return " (reshape or broadcast one of them)"


def strengthen(x: Any, aval: Any) -> Any:
    """``x`` with the strong type ``aval``, where it is weakly typed or varies over fewer axes."""
    from ...primitives.collectives import vary_over
    from ...primitives.values import convert_element_type_p

    own: Any = typeof(x)
    if aval.vma - own.vma:
        x = vary_over(x, sorted(aval.vma, key=str))
        own = own.with_vma(own.vma | aval.vma)
    if own == aval.with_vma(own.vma):
        return x
    return convert_element_type_p.bind(x, new_dtype=aval.dtype, weak_type=aval.weak_type)


def with_strong_outputs(s: Staged, wanted: Sequence[Any]) -> Staged:
    """The staged function with weakly typed results converted to ``wanted`` types."""
    if all(a == w for a, w in zip(s.out_avals, wanted)):
        return s
    from dovetail_core import eval_jaxpr

    n = len(s.consts)

    def converted(*args: Any) -> list[Any]:
        outs = eval_jaxpr(s.jaxpr, list(args[:n]), *args[n:])
        return [strengthen(x, w) for x, w in zip(outs, wanted)]

    avals = [v.aval for v in [*s.jaxpr.constvars, *s.jaxpr.invars]]
    jaxpr, _ = stage(converted, avals, s.jaxpr.name)
    opened = jaxpr.replace(constvars=jaxpr.invars[:n], invars=jaxpr.invars[n:])
    return Staged(opened, s.consts, s.out_tree)


def with_strong_inputs(s: Staged, wanted: Sequence[Any]) -> Staged:
    """The staged function with strongly typed inputs where it saw weakly typed ones."""
    from ...primitives.values import convert_element_type_p

    invars, eqns = list(s.jaxpr.invars), []
    for i, (v, want) in enumerate(zip(invars, wanted)):
        if v.aval != want:
            weak: Any = v.aval
            params = {"new_dtype": weak.dtype, "weak_type": weak.weak_type}
            invars[i] = Var(want)
            result = convert_element_type_p.infer((want,), params)
            eqns.append(Eqn(convert_element_type_p, [invars[i]], [v], params, result.effects, None))
    if not eqns:
        return s
    return s._replace(jaxpr=s.jaxpr.replace(invars=invars, eqns=[*eqns, *s.jaxpr.eqns]))


def join_weak(a: Any, b: Any) -> Any:
    """The common type of two that differ in weak typing, or in the axes that they vary over."""
    return a if a == b else a.strong().with_vma(a.vma | b.vma)


def stage_carry(
    what: str,
    body: Callable[..., Any],
    in_tree: Any,
    carry_tree: Any,
    leaves: list[Any],
    out_tree: Callable[[Staged], Any],
    more: tuple[Any, ...] = (),
) -> tuple[list[Any], Staged]:
    """Trace a loop body whose first results are its carry.

    A weakly typed initial carry (a Python scalar) takes the dtype that the body returns for it, if
    that is above its own in the promotion lattice: ``0`` becomes a float, say. Each round moves a
    carry up the lattice, so the rounds end. A carry that the body returns strongly typed is
    strongly typed from the start, while the body still sees it weakly typed: tracing it again for
    that alone would trace the bodies of nested loops twice per level.

    Args:
        leaves: initial carry. more: types of the inputs after the carry.
        out_tree: the structure of the carry that the body returned.
    """
    while True:
        avals = operand_types(leaves, carry_tree, f"{what}: the initial carry")
        refuse_mutable(what, "a loop's carry", avals, lambda: paths(carry_tree, "carry"))
        staged = stage_function(body, in_tree, [*avals, *more])
        context = f"{what}: the loop carry"
        result = f"the result of {name_of(body)}"
        check_structure(context, "the input", carry_tree, result, out_tree(staged))
        outs = staged.out_avals[: len(leaves)]
        if all(a == b for a, b in zip(avals, outs)):
            return leaves, staged
        wanted = [_raised(a, b) for a, b in zip(avals, outs)]
        if wanted != avals:
            leaves = [strengthen(x, w) for x, w in zip(leaves, wanted)]
            continue
        names = paths(carry_tree, "carry")
        check_types(context, "the input", avals, result, outs, names)
        wanted = list(map(join_weak, avals, outs))
        staged = with_strong_inputs(staged, [*wanted, *more])
        staged = with_strong_outputs(staged, [*wanted, *staged.out_avals[len(avals) :]])
        return [strengthen(x, w) for x, w in zip(leaves, wanted)], staged


def _raised(a: Any, b: Any) -> Any:
    """The type that a carry of type ``a``, returned as type ``b``, starts with instead.

    It differs from ``a`` if ``a`` is weakly typed and ``b`` of another dtype, or if ``b`` varies
    over more axes.
    """
    if b.vma - a.vma:
        return a.with_vma(a.vma | b.vma)
    if not getattr(a, "weak_type", False):
        return a
    if isinstance(b, ShapedArray) and a.shape == b.shape and a.dtype != b.dtype:
        try:
            result, _ = common_type([(a.dtype, True), (b.dtype, b.weak_type)])
            return a.update(dtype=result, weak_type=False)
        except TypePromotionError:  # nothing is above both: the comparison of types reports it
            pass
    return a


def invariant(body: Staged, leaves: Sequence[Any], condition: Staged | None = None) -> list[int]:
    """The indices of a carry's values that a loop's body returns unchanged.

    These are constants of the loop, with respect to which it can be differentiated where it could
    not be with respect to a carried value. Left out are values that the condition uses, values that
    are not arrays yet, and values that the loop has as constants already. Where there are effects,
    the result is empty: they name inputs by their indices, which must not change.
    """
    if body.jaxpr.effects or (condition is not None and condition.jaxpr.effects):
        return []
    seen = {id(c) for c in body.consts}
    used = set[Any]()
    if condition is not None:
        seen.update(map(id, condition.consts))
        used = {v for e in condition.jaxpr.eqns for v in e.invars if v.__class__ is Var}
        used.update(v for v in condition.jaxpr.outvars if v.__class__ is Var)
    result: list[int] = []
    for i, (x, v, out) in enumerate(zip(leaves, body.jaxpr.invars, body.jaxpr.outvars)):
        in_condition = condition is not None and condition.jaxpr.invars[i] in used
        if v is out and hasattr(x, "aval") and id(x) not in seen and not in_condition:
            seen.add(id(x))
            result.append(i)
    return result


def with_constants(s: Staged, leaves: Sequence[Any], at: Sequence[int], results: bool) -> Staged:
    """A function of a loop's carry with the ``leaves`` at the indices ``at`` as constants.

    If the function returned the carry (``results``), it does not return these.
    """
    jaxpr, removed = s.jaxpr, set(at)
    consts = [jaxpr.invars[i] for i in at] if results else []
    outvars = [v for i, v in enumerate(jaxpr.outvars) if not results or i not in removed]
    moved = jaxpr.replace(
        constvars=[*jaxpr.constvars, *consts],
        invars=[v for i, v in enumerate(jaxpr.invars) if i not in removed],
        outvars=outvars,
    )
    return s._replace(jaxpr=moved, consts=[*s.consts, *[leaves[i] for i in at if results]])


def checkpointing(what: str, scheme: Any) -> Any:
    """The provider of checkpointed loops, once it has looked at a scheme.

    Raises:
        PluginError: no active plugin provides them. TypeError: ``scheme`` is no scheme.
    """
    provider = registry().provider("loop_checkpointing", default=None)
    if provider is None:
        disabled = registry().inactive_plugins()
        note = f" Set aside: {disabled}." if disabled else ""
        raise PluginError(
            f"{what}(checkpoint=...) needs a plugin that provides 'loop_checkpointing': install or "
            f"enable the plugin 'remat' (DOVETAIL_PLUGINS, DOVETAIL_DISABLE_PLUGINS), or leave out "
            f"checkpoint=.{note}"
        )
    provider.check(what, scheme)
    return provider
