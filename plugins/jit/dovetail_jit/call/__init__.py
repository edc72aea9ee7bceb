"""From a call to an execution: one module for each arrow, one cache for each.

    signature -> program -> module -> executable -> call

``signature`` takes arguments apart and types them. ``program`` traces a function for a signature.
``placement`` says where a call runs. ``module`` lowers a program. ``request`` is what an executable
is asked for by, and ``providers`` asks for it: of caches, of what runs until something is compiled,
at last of the compiler. ``executable`` runs it. ``miss`` is the way through all of these, for every
call that C++ has not seen.
"""
