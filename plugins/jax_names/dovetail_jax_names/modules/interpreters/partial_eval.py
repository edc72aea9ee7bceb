"""``jax.interpreters.partial_eval``."""

from typing import Any as _Any

from dovetail_core import StagedTracer as DynamicJaxprTracer

from ...extending.partial import (
    JaxprTracer as JaxprTracer,
    PartialVal as PartialVal,
    custom_partial_eval_rules as custom_partial_eval_rules,
    dce_jaxpr as dce_jaxpr,
    dce_jaxpr_call_rule as dce_jaxpr_call_rule,
    dce_jaxpr_closed_call_rule as dce_jaxpr_closed_call_rule,
    dce_jaxpr_consts as dce_jaxpr_consts,
    dce_rules as dce_rules,
    trace_to_jaxpr_dynamic as trace_to_jaxpr_dynamic,
    trace_to_jaxpr_nounits as trace_to_jaxpr_nounits,
)
from ...lookup import attributes as _attributes

Val = _Any

__getattr__, __dir__ = _attributes("jax.interpreters.partial_eval")
