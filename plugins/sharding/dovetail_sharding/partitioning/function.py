"""``custom_partitioning``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from dovetail_base.source import here
from dovetail_base.wrapping import wraps
from dovetail_core import ClosedJaxpr, Primitive, callable_name, eval_jaxpr, stage_closed, typeof
from dovetail_tree.util import tree_flatten, tree_unflatten

from .rule import SdyShardingRule, parsed

custom_partitioning_p = Primitive("custom_partitioning", multiple_results=True)
custom_partitioning_p.def_traits(
    parameters={
        "call": "program of the function",
        "partition": "how it is divided",
        "mapped": "for each vmap which operands and results have its axis",
    },
)


@custom_partitioning_p.def_abstract_eval
def _type(*avals: Any, call: ClosedJaxpr, **params: Any) -> Any:
    return list(call.out_avals)


@custom_partitioning_p.def_decomposition
def _value(*operands: Any, call: ClosedJaxpr, **params: Any) -> Any:
    """The results of the function itself, as on one device."""
    return eval_jaxpr(call.jaxpr, call.consts, *operands)


class custom_partitioning:
    """A function of arrays whose author defines how it is partitioned among devices.

    :meth:`def_partition` does. On one device, within ``shard_map``, and under differentiation it is
    the function itself; ``vmap`` of it is partitioned in the same way.

    Args:
        fun: a function of pytrees of arrays.
        static_argnums: positions of arguments that are not arrays.

    Raises:
        TypeError: ``fun`` is not callable.
    """

    def __init__(self, fun: Callable[..., Any], static_argnums: Sequence[int] = ()) -> None:
        if not callable(fun):
            raise TypeError(
                f"custom_partitioning{here()} takes a function, got {fun!r} of type "
                f"{type(fun).__name__}."
            )
        wraps(fun)(self)
        self.fun = fun
        self.static_argnums = (
            (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
        )
        self.params: dict[str, Any] | None = None

    def def_partition(
        self,
        partition: Callable[..., Any],
        infer_sharding_from_operands: Callable[..., Any] | None = None,
        propagate_user_sharding: Callable[..., Any] | None = None,
        decode_shardings: bool = True,
        sharding_rule: Any = None,
        *,
        reduction_factors: tuple[str, ...] = (),
        need_replication_factors: tuple[str, ...] = (),
        permutation_factors: tuple[str, ...] = (),
        **factor_sizes: int,
    ) -> Callable[..., Any]:
        """Say how the function is divided; returns ``partition``.

        Args:
            partition: ``partition(*static, mesh, arg_shapes, result_shape)`` gets pytrees of
                ``ShapeDtypeStruct`` with the shardings that the compiler proposes, and returns the
                mesh, a function of the parts that one device has, the shardings of its results and
                of its arguments (a tuple), which the compiler sees to. Collectives in the function
                refer to the axes of the mesh.
            sharding_rule: which dimensions go together, by which shardings are propagated:
                ``"i j, j k -> i k"``, an :class:`SdyShardingRule`, or a function ``(*static, mesh,
                operand_types, result_types)`` that returns one of these. Without it the compiler
                propagates nothing through the function.
            infer_sharding_from_operands, propagate_user_sharding, decode_shardings: how shardings
                were propagated before there were rules. They do not count.
            reduction_factors, need_replication_factors, permutation_factors, factor_sizes: of a
                rule that is a string, as for :class:`SdyShardingRule`.

        Raises:
            TypeError: the rule is something else. ValueError: it is none.
        """
        roles = {
            "reduction_factors": reduction_factors,
            "need_replication_factors": need_replication_factors,
            "permutation_factors": permutation_factors,
        }
        if isinstance(sharding_rule, str):
            sharding_rule = parsed(sharding_rule, roles, factor_sizes)
        elif not (
            sharding_rule is None
            or isinstance(sharding_rule, SdyShardingRule)
            or callable(sharding_rule)
        ):
            raise TypeError(
                f"def_partition{here()}: sharding_rule must be a string, an SdyShardingRule or a "
                f"function, got a value of type {type(sharding_rule).__name__}."
            )
        self.params = {
            "partition": partition,
            "infer_sharding_from_operands": infer_sharding_from_operands,
            "propagate_user_sharding": propagate_user_sharding,
            "decode_shardings": decode_shardings,
            "sharding_rule": sharding_rule,
        }
        return partition

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        name = callable_name(self.fun)
        if self.params is None:
            raise AttributeError(
                f"custom_partitioning of {name}{here()}: nothing says how it is divided. Call "
                f"{name}.def_partition first."
            )
        bound = inspect.signature(self.fun).bind(*args, **kwargs)
        bound.apply_defaults()
        given = bound.args
        fixed = {i if i >= 0 else i + len(given) for i in self.static_argnums}
        dynamic = tuple([a for i, a in enumerate(given) if i not in fixed])
        leaves, in_tree = tree_flatten(dynamic)
        out_tree: list[Any] = []

        def flat(*xs: Any) -> list[Any]:
            rest = iter(tree_unflatten(in_tree, xs))
            out = self.fun(*[a if i in fixed else next(rest) for i, a in enumerate(given)])
            result, tree = tree_flatten(out)
            out_tree[:] = [tree]
            return result

        call = stage_closed(flat, [typeof(x) for x in leaves], name)
        outs = custom_partitioning_p.bind(
            *leaves, call=call, **self.params, in_tree=in_tree, out_tree=out_tree[0], mapped=(),
            static_args=tuple([a for i, a in enumerate(given) if i in fixed]),
        )  # fmt: skip
        return tree_unflatten(out_tree[0], outs)
