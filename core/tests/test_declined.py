"""Rules that are not for the operands that they get, and nothing else is."""

from __future__ import annotations

import pytest

from dovetail_core import LiftTrace, MissingRule, RuleTable, lift_call
from dovetail_testing.toy import mul_p, neg_p


@pytest.mark.parametrize("primitive, count", [(neg_p, 1), (mul_p, 2)])
def test_a_derived_rule_may_decline(carriers, primitive, count):
    table = RuleTable("acme.declining", derive=lambda primitive: lambda *_: NotImplemented)

    class Intervals(carriers.Intervals):
        def trace(self, parent):
            return LiftTrace(parent, self, table)

    @table.register(mul_p)
    def _mul(carrier, args, params):
        return NotImplemented

    with pytest.raises(MissingRule) as e:
        lift_call(
            Intervals(), lambda *xs: primitive.bind(*xs), [carriers.Interval(1.0, 2.0)] * count
        )
    rule = rf"the rule of 'acme.declining' for '{primitive.name}' \(.*test_declined.*\)"
    assert e.match(rf"^{rule} is not for these operands at .*test_declined\.py.* and none can be")
