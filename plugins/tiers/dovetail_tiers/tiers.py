"""The provider ``tiers``: programs begin by NumPy, or in a quickly compiled form."""

from __future__ import annotations

from functools import partial

from dovetail_jit import Request, Runnable, made_of

from . import choice, compiler as processes, interpreted, requests
from .options import tiered
from .successor import Full


def get(request: Request, make: object) -> Runnable | None:
    """Begin with NumPy, or compile a program quickly, and have another process compile it in full;
    None: do neither."""
    module, device, program = request.module, request.device, request.program
    assert program is not None
    compiler = processes.compiler
    if not compiler.is_usable or not choice.can_wait(module, device, request.options):
        return None
    low = interpreted.of(program, module)
    if low is None and tiered.value == "auto" and not choice.gains(module.text):
        return None
    asked = requests.request(module, device, request.options)
    compile = request.compile
    full = Full(
        module.name,
        asked,
        partial(requests.load, module, device),
        compile,
        compiler.works_on,
        low is None,
    )
    compiler.ask(full)
    begun = (
        compile("quick") if low is None else interpreted.Interpreted(low, module, device, compile)
    )
    return made_of(request, begun, successor=full)
