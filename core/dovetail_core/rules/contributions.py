"""The modules that contribute to a rule table: their imports, and those that are set aside."""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident

from dovetail_base.environment import flag
from dovetail_base.errors import PluginError
from dovetail_base.plugin_calls import (
    Unfinished,
    attempt,
    disable_with_warning,
    import_completely,
    spell,
)

from ..dispatch.primitive import Primitive, packages_with_primitives
from ..registry.discovery import registry
from ..registry.plugins import Plugin
from .filling import (
    Change,
    Filling,
    Modules,
    by_family,
    entering,
    importing,
    is_due,
    release,
    tell_caches,
)


class Contributions:
    """The modules that contribute to one table, by the manifests of plugins.

    Args:
        table: its name.
        undo: removes the rules that a failing module has entered.
        withhold: hides all rules of the table from interpreters, so that each has a miss; ``show``
            shows them again.

    Attributes:
        is_loaded: True once the modules that were due when the table was filled are imported.
        families: modules not imported yet, by the modules of the primitives of their rules.
        failures: modules whose rules are left out, and the reasons.
        refused: the error that strict mode raises for them, at each use of the table.
    """

    def __init__(
        self,
        table: str,
        undo: Callable[[Change], None],
        withhold: Callable[[], None],
        show: Callable[[], None],
    ) -> None:
        self.table = table
        self.refused: PluginError | None = None
        self._withhold, self._show = withhold, show
        self.is_loaded = False
        self.families: dict[str, Modules] = {}
        self.failures: dict[str, str] = {}
        self._undo = undo
        self._waiting: Modules = []  # with rules of nothing that is there
        self._packages = 0  # with primitives, when the table was filled
        self._filling: dict[int, Filling] = {}  # by thread

    @property
    def filling(self) -> Filling | None:
        """The state of this thread's filling of the table, or None."""
        return self._filling.get(get_ident())

    def registered_late(self, module: str) -> bool:
        """Return whether ``module`` registers rules after the table was filled. That does not hold
        for a module that waits here and another table's filling imports: there were no primitives
        for it before."""
        return self.is_loaded and all(module != waiting for _, waiting in self._waiting)

    def load(self, primitive: Primitive | None = None) -> None:
        """Import the modules that are due, once (see ``RuleTable.fill``)."""
        if self.refused is not None:
            self._refuse()
        thread = get_ident()
        started = thread in self._filling
        if not started and (not self.is_loaded or self.is_behind):
            filling = self._filling[thread] = Filling()
            try:
                waiting = self._waiting
                if not self.is_loaded:
                    result = registry().contributions(self.table)
                    waiting, self.families = by_family(result)
                self._load_due(filling, waiting)
            finally:
                del self._filling[thread]
        if primitive is not None and primitive.module in self.families:
            self._load_families([primitive.module])
        elif primitive is None and self.families and not started:
            self._load_families([*self.families])

    def _load_families(self, homes: list[str]) -> None:
        """Import the rules of the primitives of some modules."""
        thread = get_ident()
        outer = self._filling.get(thread)
        filling = self._filling[thread] = Filling(outer, is_family=True)
        try:
            for home in homes:
                modules = self.families.get(home, ())
                if all([self._load_once(filling, *x) for x in modules]):  # noqa: C419
                    self.families.pop(home, None)
        finally:
            if outer is None:
                del self._filling[thread]
            else:
                self._filling[thread] = outer

    def _load_once(self, filling: Filling, plugin: Plugin, module: str) -> bool:
        """Do as :meth:`_load`, unless this thread is importing the module already."""
        if module in filling.started:
            return False
        filling.started.add(module)
        try:
            return self._load(filling, plugin, module)
        finally:
            filling.started.discard(module)

    def _load_due(self, filling: Filling, waiting: Modules) -> None:
        """Import the modules that are due, then those that become due by primitives of these."""
        loaded = True
        while True:
            packages = len(packages_with_primitives)
            due = [(plugin, module) for plugin, module in waiting if is_due(plugin, module)]
            if not due:
                break
            waiting = [x for x in waiting if x not in due]
            unfinished = [x for x in due if not self._load(filling, *x)]
            loaded = loaded and not unfinished
        if loaded:
            self._waiting, self._packages, self.is_loaded = waiting, packages, True

    @property
    def is_behind(self) -> bool:
        """True if modules wait, and further packages have primitives since it was filled."""
        return bool(self._waiting) and self._packages != len(packages_with_primitives)

    def _load(self, filling: Filling, plugin: Plugin, module: str) -> bool:
        """Import a module of rules; returns False if that is to be tried again."""
        if module in self.failures:
            return True
        changes, filling.standard = filling.changes, plugin.is_standard
        before = len(changes)
        with importing(module):
            _, error = attempt(lambda: import_completely(module), plugin.whose, plugin.is_standard)
        while filling.displaced:
            self._say(filling.displaced.pop(), more=" The first of them stands.")
        if isinstance(error, Unfinished):
            return False
        if error is not None:
            with entering:
                while len(changes) > before:
                    self._undo(changes.pop())
        if release(module):
            tell_caches()
        if error is not None:
            self._disable(plugin, module, error)
        return True

    def _disable(self, plugin: Plugin, module: str, error: BaseException) -> None:
        why = spell(error)
        text = (
            f"the rules of {plugin.whose} for table {self.table!r} are set aside, because {module} "
            f"fails to import: {why}{'' if why.endswith('.') else '.'} Fix the module, or disable "
            "the plugin (DOVETAIL_DISABLE_PLUGINS)."
        )
        stated = f"{module} of plugin {plugin.name!r} ({why})"
        if self.failures.setdefault(module, stated) is stated:  # no other thread was first
            try:
                self._say(text, error)
            except BaseException:
                del self.failures[module]  # it is an error, and the module is not set aside
                raise

    def _say(self, text: str, error: BaseException | None = None, more: str = "") -> None:
        """Warn of a module that is set aside. In strict mode raise, now and at each later use."""
        try:
            disable_with_warning(text, error, more)
        except PluginError as e:
            self.refused = e
            with entering:
                self._withhold()
            tell_caches()
            raise

    def _refuse(self) -> None:
        """Raise the error of strict mode again, unless strict mode has been switched off."""
        if self.refused is not None and flag("strict"):
            raise PluginError(*self.refused.args) from self.refused.__cause__
        self.refused = None
        with entering:
            self._show()
