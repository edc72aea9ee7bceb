"""Hooks: what was traced, lowered and compiled is noted."""

from dovetail_core import hookimpl

SEEN: list[str] = []


@hookimpl
def dovetail_traced(name, program, seconds):
    SEEN.append(f"traced {name}")


@hookimpl
def dovetail_lowered(name, module, seconds):
    SEEN.append(f"lowered {name}")


@hookimpl
def dovetail_compiled(name, platform, cached, seconds):
    SEEN.append(f"compiled {name}")


@hookimpl
def dovetail_compile_options(platform):
    return {}


@hookimpl(wrapper=True)
def dovetail_compile(module, platform, options):
    return (yield)


@hookimpl
def dovetail_environment():
    return {"api1": "the plugin of kernel API 1"}
