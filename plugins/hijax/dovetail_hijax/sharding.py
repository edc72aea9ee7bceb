"""Where values of high types are: a specification that is one for each of their arrays."""

from __future__ import annotations

from typing import Any

from dovetail_core.types.high import missing


class HiPspec:
    """Says where the arrays of a high value are. Subclass it; instances are hashable.

    Given to ``jit`` as ``in_shardings`` or ``out_shardings``, it places the value's arrays.
    """

    def to_lo(self) -> tuple[Any, ...]:
        """A sharding (or device) for each array of the value."""
        missing(self, "to_lo(self)", "to place the arrays of a high value")

    def to_tangent_spec(self) -> HiPspec:
        """The specification of tangents; by default the same."""
        return self

    def to_ct_spec(self) -> HiPspec:
        """The specification of cotangents; by default that of tangents."""
        return self.to_tangent_spec()

    @property
    def device_set(self) -> set[Any]:
        """The devices that hold part of the value."""
        return {d for s in self.to_lo() for d in getattr(s, "device_set", {s})}
