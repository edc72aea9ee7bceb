"""Private modules of JAX in which libraries look for names that are public names of plugins here.

Each is named by its path below ``jax._src``, with underscores, and says which library needs it.
"""

from __future__ import annotations

from types import ModuleType
from typing import TypeVar

from ..lookup import module_of, private_module

Out = TypeVar("Out")


def _module(path: str, users: str, **names: str) -> ModuleType:
    """``jax._src.<path>`` with some names, each imported from a module on first use."""
    module = f"jax._src.{path}"
    where = {name: f"{home}:{name}" for name, home in names.items()}
    return private_module(module, f"``{module}``. {users}", where)


ad_util = _module(
    "ad_util",
    "lineax: ``stop_gradient_p``, which it gives a transpose rule.",
    stop_gradient_p="dovetail_lax",
)
checkify = _module(
    "checkify",
    "flax: ``nnx.checkify`` is made of these.",
    Error="dovetail_checkify",
    JaxException="dovetail_checkify",
    Out="dovetail_jax_names.private.answers",
    checkify="dovetail_checkify",
    user_checks="dovetail_checkify",
)
distributed = _module(
    "distributed",
    "orbax: ``global_state`` says which process of how many this one is.",
    State="dovetail_distributed",
    global_state="dovetail_distributed",
)
flatten_util = _module("flatten_util", "blackjax: ``ravel_pytree``.")
interpreters = module_of(
    "jax._src.interpreters",
    "``jax._src.interpreters``: flax uses the module ``pxla`` of it.",
    package=True,
)
pjit = _module("pjit", "quax: ``jit_p``, for which it has a rule.", jit_p="dovetail_jit")
interpreters_pxla = _module(
    "interpreters.pxla",
    "flax (``linen.fp8_ops``): ``global_result_handlers``.",
    global_result_handlers="dovetail_jax_names.results",
)
state = module_of(
    "jax._src.state", "``jax._src.state``: flax uses the module ``types`` of it.", package=True
)
state_types = _module(
    "state.types", "flax: ``AbstractRef``, for ``isinstance``.", AbstractRef="dovetail_refs"
)
