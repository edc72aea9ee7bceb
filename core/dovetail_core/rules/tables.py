"""Rule tables: one per transformation or backend, read as plain dictionaries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar, cast
from weakref import WeakSet

from dovetail_base.errors import DovetailError, MissingRule, RegistryError
from dovetail_base.source import callable_name, current_source, describe, registration_location

from ..dispatch.primitive import Primitive
from ..registry.discovery import distribution_of, registry
from ..types.type_shardings import is_ambiguous
from ..types.typeof import typeof
from .filling import Origin as Origin, entering, generation as generation
from .slots import Slot, Slots

RuleT = TypeVar("RuleT", bound=Callable[..., Any])
Derive = Callable[[Primitive], RuleT | None]

_made: WeakSet[RuleTable[Any]] = WeakSet()


def _spell(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{callable_name(function)}"


class RuleTable(Generic[RuleT]):
    """The rules of primitives for one interpretation.

    Args:
        name: ``"<plugin>.<transformation>"``.
        signature: the type of its rules (a ``Protocol`` whose docstring explains it).
        derive: makes a rule for a primitive that has none, or returns None (see :meth:`deriver`).
        law: name of the law that every rule obeys (the manifest names the function).
        empty: a description of what happens without a rule, if that is not an error.
        platform_of: returns the platform of the arguments that a rule is called with, for tables in
            which platforms may have rules of their own.
        families: names that stand for several platforms.

    ``rules`` is all that an interpreter reads per operation: ``table.rules.get(primitive)``, and on
    None ``table.miss(primitive)``. A rule that a module registers while the table imports it is in
    there once the import is done; before that, :meth:`entered` and :meth:`miss` find it.
    """

    @staticmethod
    def instances() -> list[RuleTable[Any]]:
        """The tables that exist in this process."""
        return list(_made)

    def __init__(
        self,
        name: str,
        *,
        signature: type | None = None,
        derive: Derive[RuleT] | None = None,
        law: str = "",
        empty: str = "",
        platform_of: Callable[..., str] | None = None,
        families: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        self.name = name
        self.signature = signature
        self.law = law
        self.empty = empty
        self.module: str = registration_location()[0]
        self._slots: Slots[RuleT] = Slots(name, platform_of, self.general)
        self._contributions = self._slots.contributions
        self.rules, self.origins = self._slots.rules, self._slots.origins
        self._has_platforms, self._families = platform_of is not None, families or {}
        self._derive = derive
        self._fallbacks: dict[Primitive, RuleT] = {}
        _made.add(self)

    def register(
        self, primitive: Primitive, *, override: bool = False, platform: str | None = None
    ) -> Callable[[RuleT], RuleT]:
        """Decorator that adds the rule of ``primitive``.

        Args:
            platform: the one platform that the rule is for, if the table has rules for platforms;
                it precedes the general rule, which is for all that have none of their own.

        Raises:
            RuleConflict: another line registers it and ``override`` is not set, or two plugins that
                fill the table both override it.
            RegistryError: a platform is given, and the table has no rules for platforms.
        """

        def fill(rule: RuleT) -> RuleT:
            self.set(primitive, rule, override=override, platform=platform)
            return rule

        return fill

    def deriver(self, derive: Derive[RuleT]) -> Derive[RuleT]:
        """Decorator for the function that makes the rule of a primitive that has none, or None.

        It may be in another module than the table: a manifest names that module among those that
        contribute to the table.

        Raises:
            RegistryError: the table has a deriver already.
        """
        if self._derive is not None and self._derive is not derive:
            raise RegistryError(
                f"table {self.name!r} has a deriver already, {_spell(self._derive)}; "
                f"{_spell(derive)} is another. A table has one."
            )
        self._derive = derive
        return derive

    def set(
        self,
        primitive: Primitive,
        rule: RuleT,
        *,
        override: bool = False,
        platform: str | None = None,
        place: tuple[str, int] | None = None,
    ) -> None:
        """Add the rule of ``primitive`` with ``rule`` (see :meth:`register`).

        ``place`` is the module and the line that are recorded as its origin, for helpers that add
        rules for others; by default those of the caller.
        """
        new = Origin(*(place or registration_location()), "override" if override else "declared")
        filling = self._contributions.filling
        other = filling is None or not filling.is_family
        if self.is_behind or (other and primitive.module in self._contributions.families):
            self.fill(primitive)
        for slot in self._slots_of(primitive, platform):
            self._slots.enter(slot, rule, new)

    def _slots_of(self, primitive: Primitive, platform: str | None) -> list[Slot]:
        if platform is None:
            return [Slot(primitive)]
        if not self._has_platforms:
            raise RegistryError(
                f"the rule of {primitive.name!r} is registered for platform {platform!r} with "
                f"table {self.name!r}, whose rules are for all platforms. Leave platform= out."
            )
        if not isinstance(platform, str) or not platform:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise RegistryError(
                f"platform= of the rule of {primitive.name!r} for table {self.name!r} must be the "
                f"name of one platform, as 'cuda', got {platform!r}. Register a rule for each."
            )
        return [Slot(primitive, p) for p in self._families.get(platform, (platform,))]

    def withdraw(self, primitive: Primitive, platform: str | None = None) -> None:
        """Remove the rule of ``primitive``: the table derives one, or has none.

        Args:
            platform: the platform whose own rule to remove; by default the general one.

        Raises:
            KeyError: there is none.
        """
        for slot in self._slots_of(primitive, platform):
            self._slots.withdraw(slot)

    def fill(self, primitive: Primitive | None = None) -> None:
        """Import every module that plugins name as contributor to this table, once; those with
        rules of a package's own primitives alone, once there is one.

        If ``primitive`` is given, the only modules of families (``Manifest.families``) that are
        imported are those with rules of it.

        A module that does not import, or whose rules conflict with those of another one, is set
        aside with a warning: the table lacks its rules.

        Threads that call at the same time all import (see ``dovetail_base.once``). If an import
        that has begun must end first, the table is not filled yet, and the next miss tries again.

        Raises:
            PluginError: ``DOVETAIL_STRICT=1`` is set and a module is set aside.
        """
        self._contributions.load(primitive)

    @property
    def is_behind(self) -> bool:
        """True if modules wait, and further packages have primitives since it was filled."""
        return self._contributions.is_behind

    @property
    def problems(self) -> list[str]:
        """The contributions that were set aside, and the reasons."""
        return [*self._contributions.failures.values()]

    def miss(self, primitive: Primitive) -> RuleT:
        """The slow path of a look-up: fill the table, else derive a rule and keep it, else raise.

        Raises:
            MissingRule: names the primitive, the table, their owners, and how to add the rule.
        """
        self.fill(primitive)
        rule = self.entered(primitive)
        return self.general(primitive) if rule is None else rule

    def general(self, primitive: Primitive, platform: str = "") -> RuleT:
        """The rule for all platforms that have none of their own, derived if there is none.

        Args:
            platform: the platform that needs it, for the message.

        Raises:
            MissingRule: as :meth:`miss`.
        """
        self.fill(primitive)
        rule = self._slots.entered(Slot(primitive))
        if rule is None and primitive.rules is not None:
            rule = cast("RuleT | None", primitive.rules.get(self.name))
        if rule is None and self._derive is not None:
            rule = self._derived(self._derive, primitive)
            if rule is not None and not primitive.anonymous:
                with entering:  # a module may have declared one since
                    first = self._slots.shown(Slot(primitive))
                    if first is None:
                        self._slots.show(Slot(primitive), rule)
                    rule = first or rule
                    self.origins.setdefault(primitive, Origin(self.module, 0, "derived"))
        if rule is None:
            raise MissingRule(self._missing(primitive, platform))
        return rule

    def _derived(self, derive: Derive[RuleT], primitive: Primitive) -> RuleT | None:
        try:
            return derive(primitive)
        except DovetailError:
            raise
        except Exception as e:  # a plugin's deriver may fail in any way
            raise RegistryError(
                f"the deriver of table {self.name!r}, {_spell(derive)}, fails for primitive "
                f"{primitive.name!r}: {type(e).__name__}: {e}. It must return a rule or None."
            ) from e

    def is_derived(self, primitive: Primitive) -> bool:
        """Return whether the rule of ``primitive`` was derived, from regions or decomposition."""
        origin = self.origins.get(primitive)
        return origin is not None and origin.kind == "derived"

    def declares(self, primitive: Primitive) -> bool:
        """Return whether an author wrote the rule of ``primitive``: in the table or, as a custom
        rule, with the primitive. Then derivers of other tables should not replace the primitive by
        its decomposition or regions."""
        return self.origin(primitive) is not None and not self.is_derived(primitive)

    def origin(self, primitive: Primitive, platform: str = "") -> Origin | None:
        """The origin of the rule of ``primitive``; None if it has none yet.

        Fills the table, but derives nothing: a derived rule has an origin once it was used.

        Args:
            platform: the platform, if that may have a rule of its own.
        """
        self.fill(primitive)
        own = self._slots.own_origins.get(Slot(primitive, platform)) if platform else None
        result = self.origins.get(primitive) if own is None else own
        rule = (primitive.rules or {}).get(self.name) if result is None else None
        if rule is None:
            return result
        code = getattr(rule, "__code__", None)
        module = getattr(rule, "__module__", primitive.module)
        return Origin(module, 0 if code is None else code.co_firstlineno, "declared")

    def platforms(self, primitive: Primitive) -> dict[str, tuple[RuleT, Origin]]:
        """The rules that platforms have of their own, and their origins; fills the table."""
        self.fill(primitive)
        own = self._slots.own_origins.items()
        result = {slot.platform: (slot, o) for slot, o in own if slot.primitive is primitive}
        return {p: (cast("RuleT", self._slots.entered(s)), o) for p, (s, o) in result.items()}

    def is_overridden(self, primitive: Primitive, platform: str = "") -> bool:
        """Return whether an override of a rule is registered, or a rule of ``platform``'s own.

        The table is filled only if plugins of other distributions contribute to it.
        """
        if not all(plugin.is_standard for plugin, _ in registry().contributions(self.name)):
            self.fill(primitive)
        if platform and Slot(primitive, platform) in self._slots.own_origins:
            return True
        origin = self.origins.get(primitive)
        return origin is not None and origin.kind == "override"

    def spell_rule(self, primitive: Primitive) -> str:
        """The rule in messages: ``the rule of 'ad.jvp' for 'sin' (acme.rules:12)``."""
        location = self.origin(primitive) or primitive.module
        return f"the rule of {self.name!r} for {primitive.name!r} ({location})"

    def replaced(self, primitive: Primitive, rule: RuleT) -> RuleT:
        """The rule that ``rule`` replaced, by ``override=True`` or for a platform, or the one that
        would be derived. ``rule`` may call it for operands that it does not handle.

        Raises:
            MissingRule: ``rule`` replaced none, and none can be derived.
        """
        result = self._slots.replaced(primitive, rule)
        if result is not None:
            return result
        several = self._slots.by_platform(primitive)
        if several is not None and any(r is rule for r in several.rules.values()):
            return self.general(primitive)
        return self.fallback(primitive)

    def fallback(self, primitive: Primitive) -> RuleT:
        """The rule to use if a rule returns NotImplemented, since it does not handle the operands:
        the one that the table would derive.

        Raises:
            MissingRule: none can be derived. The rule raises it if it returns NotImplemented, too.
        """
        result = self._fallbacks.get(primitive)
        if result is None:
            rule = None if self._derive is None else self._derived(self._derive, primitive)
            if rule is None:
                raise self._declined(primitive)

            def last(*args: Any, **params: Any) -> Any:
                out = rule(*args, **params)
                if out is NotImplemented:
                    raise self._declined(primitive)
                return out

            result = cast("RuleT", last)
            if not primitive.anonymous:
                self._fallbacks[primitive] = result
        return result

    def _declined(self, primitive: Primitive) -> MissingRule:
        text = f"{self.spell_rule(primitive)} is not for these operands"
        return MissingRule(
            f"{text}{describe(current_source())}, and none can be derived. Give the "
            "primitive a decomposition (Primitive.def_decomposition), or extend the rule."
        )

    def blame(
        self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any], error: Exception
    ) -> None:
        """Add a note to the error of a rule that an author wrote, which names the rule.

        There is no note if the primitive refuses such operands anyway: that is its user's mistake.
        """
        if isinstance(error, DovetailError) or not self.declares(primitive):
            return
        try:
            primitive.infer(tuple([typeof(x) for x in args]), params)
        except Exception:  # a type rule may refuse in any way
            return
        note = f"In {self.spell_rule(primitive)}{describe(current_source())}."
        if note not in getattr(error, "__notes__", ()):
            error.add_note(note)

    def after(
        self, error: Exception, values: Sequence[Any], undecided: Callable[[], Any],
        primitive: Primitive, args: Sequence[Any], params: dict[str, Any],
    ) -> Any:  # fmt: skip
        """Handle an error of a rule on ``values``: return ``undecided()`` if it may be due to
        divisions in their types, else raise it with its note (see :meth:`blame`)."""
        try:
            if is_ambiguous(error, values):
                return undecided()
        except Exception as e:
            self.blame(primitive, args, params, e)
            raise
        self.blame(primitive, args, params, error)
        raise error

    def _missing(self, primitive: Primitive, platform: str) -> str:
        several = self._slots.by_platform(primitive)
        there = f", but one for {', '.join(sorted(several.rules))}" if several else ""
        wanted = f" on platform {platform!r}{there}" if platform else ""
        return (
            f"table {self.name!r} has no rule for primitive {primitive.name!r}{wanted}"
            f"{describe(current_source())}. The primitive comes from "
            f"{distribution_of(primitive.module)}, the table from {distribution_of(self.module)}. "
            f"Add the rule with @dovetail_core.registry().table({self.name!r})"
            f".register({primitive.variable}), or give the primitive a "
            f"decomposition (Primitive.def_decomposition).{self._inactive_note()}"
        )

    def _inactive_note(self) -> str:
        return f" Set aside: {'; '.join(self.problems)}." if self.problems else ""

    def entered(self, primitive: Primitive) -> RuleT | None:
        """The rule that the table has, filling and deriving nothing, or None.

        For modules that add to rules, which find here those that they have registered themselves.
        """
        result = self._slots.held.get(Slot(primitive))
        return self.rules.get(primitive) if result is None else result

    def get(self, primitive: Primitive) -> RuleT | None:
        """The rule of ``primitive``, filling and deriving as needed, or None."""
        try:
            return self.rules.get(primitive) or self.miss(primitive)
        except MissingRule:
            return None

    def __getitem__(self, primitive: Primitive) -> RuleT:
        rule = self.rules.get(primitive)
        return rule if rule is not None else self.miss(primitive)

    def __repr__(self) -> str:
        return f"<RuleTable {self.name}: {len(self.rules)} rules>"
