"""The slots of a table's rules: a general one for each primitive, and those of platforms."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import active_count
from typing import Any, Generic, NamedTuple, TypeVar, cast

from dovetail_base.errors import RuleConflict

from ..dispatch.primitive import Primitive
from ..registry.discovery import distribution_of
from .contributions import Contributions
from .filling import Change, Origin, entering, is_being_made, publish_after_import, tell_caches

RuleT = TypeVar("RuleT", bound=Callable[..., Any])


class Slot(NamedTuple):
    """The key of one rule. ``platform`` is empty for the general rule, which is that of all
    platforms that have none of their own."""

    primitive: Primitive
    platform: str = ""

    def __str__(self) -> str:
        more = f" for platform {self.platform!r}" if self.platform else ""
        return f"{self.primitive.name!r}{more}"


class ByPlatform(Generic[RuleT]):
    """The rule that interpreters call for a primitive for which platforms have rules of their own.

    Args:
        platform_of: returns the platform of the arguments that a rule is called with.
        find: finds or derives the general rule for a platform, or raises.
        general: that rule, if it is known.
    """

    __slots__ = ("_find", "_platform_of", "general", "primitive", "rules")

    def __init__(
        self,
        primitive: Primitive,
        platform_of: Callable[..., str],
        find: Callable[[Primitive, str], RuleT],
        general: RuleT | None,
    ) -> None:
        self.primitive, self.general = primitive, general
        self.rules: dict[str, RuleT] = {}
        self._platform_of, self._find = platform_of, find

    def __call__(self, *args: Any, **params: Any) -> Any:
        platform = self._platform_of(*args)
        rule = self.rules.get(platform) or self.general or self._find(self.primitive, platform)
        return rule(*args, **params)

    def __repr__(self) -> str:
        return f"<rules of {self.primitive.name!r} for {', '.join(sorted(self.rules))}>"


class Slots(Generic[RuleT]):
    """The rules of a table and their origins, by slot.

    Args:
        table: its name.
        platform_of, find: see :class:`ByPlatform`.

    Attributes:
        rules: the rules that interpreters call, by primitive.
        origins: the origins of general rules; ``own_origins``: those of platforms' rules.
        held: rules of modules that are still being imported.
        contributions: the modules with rules of the table.
    """

    def __init__(
        self,
        table: str,
        platform_of: Callable[..., str] | None,
        find: Callable[[Primitive, str], RuleT],
    ) -> None:
        self.table = table
        self.contributions = Contributions(table, self._undo, self._withhold, self._show_all)
        self.rules: dict[Primitive, RuleT] = {}
        self.origins: dict[Primitive, Origin] = {}
        self.own_origins: dict[Slot, Origin] = {}
        self.held: dict[Slot, RuleT] = {}
        self._platform_of, self._find = platform_of, find
        self._replaced: dict[tuple[Primitive, int], tuple[RuleT, RuleT]] = {}  # by the override

    def by_platform(self, primitive: Primitive) -> ByPlatform[RuleT] | None:
        """The dispatching rule of a primitive if platforms have rules of their own, else None."""
        result: Any = self.rules.get(primitive)
        return cast("ByPlatform[RuleT]", result) if result.__class__ is ByPlatform else None

    def shown(self, slot: Slot) -> RuleT | None:
        """The rule that interpreters see in a slot."""
        several = self.by_platform(slot.primitive)
        if slot.platform:
            return None if several is None else several.rules.get(slot.platform)
        return self.rules.get(slot.primitive) if several is None else several.general

    def entered(self, slot: Slot) -> RuleT | None:
        """The rule of a slot, also where interpreters do not see it yet."""
        result = self.held.get(slot)
        return self.shown(slot) if result is None else result

    def show(self, slot: Slot, rule: RuleT) -> None:
        """Let interpreters see a rule."""
        primitive, several = slot.primitive, self.by_platform(slot.primitive)
        if slot.platform:
            assert self._platform_of is not None
            if several is None:
                general = self.rules.get(primitive)
                several = ByPlatform(primitive, self._platform_of, self._find, general)
            several.rules[slot.platform] = rule
            self.rules[primitive] = cast("RuleT", several)
        elif several is None:
            self.rules[primitive] = rule
        else:
            several.general = rule

    def hide(self, slot: Slot) -> RuleT:
        """Hide the rule of a slot from interpreters; KeyError if there is none."""
        primitive, several = slot.primitive, self.by_platform(slot.primitive)
        if several is None:
            if slot.platform:
                raise KeyError(slot)
            return self.rules.pop(primitive)
        if not slot.platform:
            result, several.general = several.general, None
            if result is None:
                raise KeyError(slot)
            return result
        result = several.rules.pop(slot.platform)
        if not several.rules:
            if several.general is None:
                del self.rules[primitive]
            else:
                self.rules[primitive] = several.general
        return result

    def origin(self, slot: Slot) -> Origin | None:
        """The origin of the rule of a slot."""
        return self.own_origins.get(slot) if slot.platform else self.origins.get(slot.primitive)

    def set_origin(self, slot: Slot, origin: Origin | None) -> None:
        """Set the origin of the rule of a slot; None removes it."""
        if slot.platform:
            origins: dict[Any, Origin] = cast("dict[Any, Origin]", self.own_origins)
            key: Any = slot
        else:
            origins, key = cast("dict[Any, Origin]", self.origins), slot.primitive
        if origin is None:
            origins.pop(key, None)
        else:
            origins[key] = origin

    def enter(self, slot: Slot, rule: RuleT, new: Origin) -> None:
        """Add the rule of a slot.

        Raises:
            RuleConflict: as ``RuleTable.register``.
        """
        with entering:
            old = self.origin(slot)
            if (conflict := self._enter(slot, rule, new, old)) is None:
                return
            late = False
            if not conflict:
                late = self._is_late(slot.primitive, old, new.module)
                late = publish_after_import(partial(self._show_held, slot, late))
        if conflict:
            raise RuleConflict(self._conflict(slot, cast("Origin", old), new))
        if late:
            tell_caches()

    def _enter(self, slot: Slot, rule: RuleT, new: Origin, old: Origin | None) -> bool | None:
        """Add a rule; returns whether it conflicts with another one, or None if it is not added."""
        filling = self.contributions.filling
        if old is not None and old.kind != "derived" and old[:2] != new[:2]:
            by_hand = self.contributions.is_loaded and filling is None
            if old.kind == "override" and new.kind != "override" and not by_hand:
                # An override that was registered first (import order is not priority) stays.
                self.set_origin(slot, old._replace(replaced=new))
                self._replaces(slot, cast("RuleT", self.entered(slot)), rule)
                return None
            if new.kind != "override" or (old.kind == "override" and filling is not None):
                if filling is None or not filling.standard:
                    return True
                filling.displaced.append(self._conflict(slot, new, old))
            new = new._replace(replaced=old)
            self._replaces(slot, rule, cast("RuleT", self.entered(slot)))
        if filling is not None:
            filling.changes.append(Change(slot, new, self.entered(slot), old))
            filling.entered.append(new)
        self.held[slot] = rule
        self.set_origin(slot, new)
        return False

    def _is_late(self, primitive: Primitive, old: Origin | None, module: str) -> bool:
        """Return whether a program may have been made without the rule that was just entered."""
        if primitive.anonymous:
            return False
        filling = self.contributions.filling
        if old is None:
            if filling is not None or is_being_made(primitive):
                return False
            return self.contributions.registered_late(module)
        is_new = filling is not None and any(new is old for new in filling.entered)
        return not is_new or active_count() > 1  # another thread may have used the old rule

    def _show_held(self, slot: Slot, late: bool) -> bool:
        """Let interpreters see the rule that was entered, unless it has been withdrawn."""
        rule = self.held.pop(slot, None)
        if rule is not None:
            self.show(slot, rule)
        return late

    def _withhold(self) -> None:
        """Hide all rules from interpreters, so that each look-up is a miss."""
        for primitive in [*self.rules]:
            several = self.by_platform(primitive)
            platforms = [] if several is None else [*several.rules]
            general = Slot(primitive)
            for slot in [*(Slot(primitive, p) for p in platforms), general]:
                if self.shown(slot) is not None:
                    self.held.setdefault(slot, self.hide(slot))

    def _show_all(self) -> None:
        for slot in [*self.held]:
            self._show_held(slot, False)

    def _replaces(self, slot: Slot, rule: RuleT, old: RuleT) -> None:
        self._replaced[slot.primitive, id(rule)] = rule, old

    def replaced(self, primitive: Primitive, rule: RuleT) -> RuleT | None:
        """The rule of the same slot that a rule replaced when it was registered."""
        result = self._replaced.get((primitive, id(rule)))
        return None if result is None else result[1]

    def _conflict(self, slot: Slot, old: Origin, new: Origin) -> str:
        both = new.kind == "override"
        remedy = "" if both else ", or register with override=True to replace it on purpose"
        return (
            f"table {self.table!r} already has {'an override' if both else 'a rule'} for "
            f"{slot}: {distribution_of(old.module)} at {old}; "
            f"{distribution_of(new.module)} registers another at {new}. Uninstall or disable one "
            f"of them{remedy}."
        )

    def withdraw(self, slot: Slot) -> None:
        """Remove the rule of a slot; KeyError if there is none."""
        with entering:
            if self.held.pop(slot, None) is None or self.shown(slot) is not None:
                self.hide(slot)
            self.set_origin(slot, None)
        tell_caches()

    def _undo(self, change: Change) -> None:
        slot: Slot = change.slot
        if self.origin(slot) is not change.new:
            return  # another thread has replaced it
        rule = self.held.pop(slot, None)
        if rule is None:
            rule = cast("RuleT", self.shown(slot))
        self._replaced.pop((slot.primitive, id(rule)), None)
        if change.origin is None or change.rule is None:
            self.set_origin(slot, None)
            if self.shown(slot) is rule:
                self.hide(slot)
        else:
            # In place: interpreters hold on to the dictionaries.
            self.show(slot, change.rule)
            self.set_origin(slot, change.origin)
