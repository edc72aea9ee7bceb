"""The module for authors of hooks: their specifications, and the manager of implementations."""

from .hook_specs import Hooks as Hooks, hookimpl as hookimpl, hookspec as hookspec
from .hooked import has_hooks as has_hooks, manager as manager
