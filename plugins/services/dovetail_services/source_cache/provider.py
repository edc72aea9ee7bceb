"""The provider ``cache_by_source``: programs in the disk cache, under a digest of their function.

The digest is also of the arguments and of all else that programs depend on. Files that are read
while a function is traced are noticed by Python's audit events.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from dovetail_backends import backend_of
from dovetail_base.plugin_calls import spell
from dovetail_core import EVAL, RuleTable, axis_names, generation, get_trace, passes, registry
from dovetail_hooks import has_hooks, manager
from dovetail_jit import (
    Call,
    Executable,
    KnownProgram,
    all_options,
    facts_of_compiling,
    program_key,
)
from dovetail_xla.config import context_by_name, trace_context

from ..disk_cache.provider import environment, load_executable
from ..disk_cache.store import Store, open_store
from .digest import Digest
from .kinds import add_foreign_nodes, add_structure, new_digest
from .libraries import NotSound, installed, is_library, kind_of_file
from .record import NotRecorded, Record, decode_record, encode_record

_EVENTS = {
    "open": "opens", "os.listdir": "lists", "os.scandir": "lists", "socket.connect": "connects to",
    "subprocess.Popen": "starts", "os.system": "starts", "os.exec": "starts",
    "os.posix_spawn": "starts", "sqlite3.connect": "opens",
}  # fmt: skip
_noticed: list[tuple[str, str]] = []
"""The actions while something was traced in this process: the path, and a verb."""
_watches: list[bool] = []


def watch() -> None:
    """Record from now on which files are read while functions are traced, in all threads."""
    if not _watches:
        _watches.append(True)
        sys.addaudithook(_notice)


def count() -> int:
    """The number of actions noticed so far."""
    return len(_noticed)


def noticed(since: int, declared: tuple[str, ...]) -> str:
    """The description of a file that was read since then and not declared; empty if none was."""
    known = {os.path.realpath(path) for path in declared}
    for path, verb in _noticed[since:]:
        if path not in known:
            return f"while it was traced, it {verb} {path}"
    return ""


def _notice(event: str, args: tuple[Any, ...]) -> None:
    verb = _EVENTS.get(event)
    if verb is None or get_trace() is EVAL:
        return
    path = args[0] if args else ""
    if isinstance(path, int) and event == "open":
        return  # a file that is open already
    if isinstance(path, (str, bytes, os.PathLike)):
        path = os.path.realpath(os.fsdecode(path))
        if kind_of_file(path) != "user" or path.endswith((".py", ".pyc", ".so")):
            return
    _noticed.append((str(path), verb))


class SourceCache:
    """The provider ``cache_by_source``."""

    def ask(self, call: Call) -> Answer | None:
        """The answer for a call; None where it must be traced."""
        store = open_store()
        if store is None:
            return None
        watch()
        try:
            key = key_of(call)
        except NotSound as e:
            refused(call.settings.name, str(e))
            return None
        except RecursionError:
            refused(call.settings.name, "what it uses is nested too deeply")
            return None
        except Exception as e:  # of a property or a method of the user's, say
            refused(call.settings.name, f"what it uses cannot be looked at ({spell(e)})")
            return None
        return Answer(store, call, key)


provider = SourceCache()


def refused(name: str, reason: str) -> None:
    """Call the hook ``dovetail_not_cached``: a function cannot be recognised by its code."""
    if has_hooks("dovetail_not_cached"):
        manager().hook.dovetail_not_cached(name=name, reason=reason)


class Answer:
    """The answer of the cache about one call."""

    def __init__(self, store: Store, call: Call, key: bytes) -> None:
        self.store, self.call, self.key = store, call, key
        self.environment = environment(call.device)
        self.since = count()

    def find(self) -> KnownProgram | None:
        """The program, from the cache or an earlier call in this process; None if not there."""
        known = self.call.settings.known_programs
        if self.key not in known:
            result = self._read()
            if result is None:
                return None
            known[self.key] = result
        return known[self.key]

    def _read(self) -> KnownProgram | None:
        call = self.call
        record = self.store.read(self.key, self.environment, decode_record)
        if record is None or record.out_tree is None:
            return None
        if tuple(record.in_avals[len(record.consts) :]) != tuple(call.avals):
            return None
        loaded = load_executable(self.store, record.executable, call.device, record.module)
        if loaded is None:
            return None
        executable = Executable(record.module, loaded, call.device, record.in_avals)
        executable.options = call.settings.options
        return KnownProgram(executable, record.consts, record.out_tree, call.committed)

    def keep(self, program: Any, executable: Executable) -> None:
        """Write what later processes need to call the program, unless it is not sound to do so."""
        call = self.call
        problem = noticed(self.since, call.settings.reads)
        if problem:
            refused(call.settings.name, f"{problem}. Name it: jit(..., reads=[path])")
            return
        module = executable.module
        if executable.device is not call.device:
            refused(call.settings.name, "what it closes over is elsewhere than its arguments")
            return
        options = all_options(module.platform, call.settings.options)
        key = program_key(module, call.device, options)
        record = Record(module, program.call.in_avals, program.consts, program.out_tree, key)
        try:
            body = encode_record(record)
        except NotRecorded as e:
            refused(call.settings.name, str(e))
            return
        self.store.write(self.key, self.environment, body, f"source {call.settings.name}")


def key_of(call: Call) -> bytes:
    """The digest of a call: its function, its arguments, and all that programs depend on.

    Raises:
        NotSound: something in it has none.
    """
    settings, arguments = call.settings, call.arguments
    digest = new_digest(bool(settings.reads))
    digest.tag("dovetail call 2", installed(), environment(call.device), call.device.id)
    platform = call.device.client.platform
    _add_plugins(digest, backend_of(call.device).platform)
    _add_context(digest)
    options = all_options(platform, settings.options)
    digest.add(facts_of_compiling(options), "the compiler's options")
    digest.tag(settings.name, call.committed, settings.keep_unused)
    digest.add((settings.donate_nums, settings.donate_names, settings.static_nums))
    digest.add(arguments.statics, "the static arguments")
    with digest.at("the arguments"):
        add_structure(digest, arguments.in_tree)
    digest.tag(*[f"{a.str_short()} {a.weak_type}" for a in _plain(digest, call.avals)])
    _add_files(digest, settings.reads)
    digest.add(settings.fun, settings.name)
    return digest.hash.digest()


def _plain(digest: Digest, avals: Sequence[Any]) -> Sequence[Any]:
    for a in avals:
        if a.is_high or a.vma or a.divided is not None:
            raise digest.refuse(f"an argument of type {a.str_short()}")
    return avals


def _add_plugins(digest: Digest, platform: str) -> None:
    """The plugins that are active, whose rules, types and hooks programs are made with, and the
    passes that run on them, whosever they are."""
    plugins = registry().plugins
    digest.tag("plugins", *[f"{p.whose} {p.target}" for p in plugins.values() if not p.problem])
    for stage in passes.STAGES:
        for p in passes.passes_for(stage, platform):
            digest.tag("pass", stage, p.name)
            digest.add(p.run, f"the pass {p.name}")


def _add_context(digest: Digest) -> None:
    """The options that programs depend on, and rules that are of no library."""
    if generation.value:
        raise NotSound("rules were changed in this process after they were first used")
    if axis_names.axes_key():
        raise NotSound("it is called with named axes around it")
    context: Mapping[str, Any] = context_by_name(trace_context())
    for name in sorted(context):
        digest.tag("option", name)
        digest.add(context[name], f"the option {name}")
    add_foreign_nodes(digest)
    for table in sorted(RuleTable.instances(), key=lambda t: t.name):
        for primitive, origin in [*table.origins.items()]:  # others may add
            if not is_library(origin.module) and origin.kind != "derived":
                digest.tag("rule", table.name, primitive.name, origin.kind)
                digest.add(table.entered(primitive), f"the rule of {primitive.name}")


def _add_files(digest: Digest, paths: Sequence[str]) -> None:
    for path in paths:
        try:
            with open(path, "rb") as f:
                content = hashlib.file_digest(f, "blake2b").digest()
        except OSError as e:
            raise NotSound(f"it reads {path}: {e.strerror}") from None
        digest.tag("file", path, content)
