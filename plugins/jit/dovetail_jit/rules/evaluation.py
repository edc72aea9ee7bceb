"""Running a call at rest: compiled with what was asked for it."""

from __future__ import annotations

from typing import Any

from dovetail_core import EVAL, ClosedJaxpr, eval_rules, jaxpr_as_fun
from dovetail_core.dispatch.primitive import run_under

from ..compilation import options_key
from ..eager import call_at_rest
from ..primitive import jit_p


@eval_rules.register(jit_p)
def _jit_now(
    *args: Any, jaxpr: ClosedJaxpr, name: str, donated_invars: Any, **asked: Any
) -> list[Any]:
    if not asked:
        return call_at_rest(jaxpr, name, args)
    options, device = dict(asked.get("compiler_options_kvs", ())), asked.get("device")
    keep_unused = asked.get("keep_unused", False)
    key = "call as asked for", options_key(options), device, keep_unused

    def make() -> Any:
        from ..api import wrap  # of an eager operation, which loads this, it is not needed
        from ..settings import Settings

        f = jaxpr_as_fun(jaxpr)
        f.__name__ = name
        return wrap(Settings(f, keep_unused=keep_unused, device=device, compiler_options=options))

    # The current trace may be one that passed this on, since none of its values is an operand.
    return run_under(EVAL, jaxpr.memo(key, make), *args)
