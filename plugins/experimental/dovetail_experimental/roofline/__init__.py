"""Operations and memory traffic of programs, by operation, without running them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_experimental.roofline.cost import (
        Cost as Cost,
        Nested as Nested,
        cost_rules as cost_rules,
        nbytes as nbytes,
    )
    from dovetail_experimental.roofline.counting import Flow as Flow, Run as Run, line_of as line_of
    from dovetail_experimental.roofline.functions import (
        roofline as roofline,
        roofline_and_grad as roofline_and_grad,
    )
    from dovetail_experimental.roofline.results import (
        RooflineResult as RooflineResult,
        RooflineRuleContext as RooflineRuleContext,
        RooflineShape as RooflineShape,
        register_roofline as register_roofline,
        register_standard_roofline as register_standard_roofline,
        roofline_rules as roofline_rules,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
