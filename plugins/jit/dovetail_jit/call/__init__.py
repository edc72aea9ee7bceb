"""From a call to an execution: one module for each arrow, one cache for each.

    signature -> program -> module -> executable -> call

``signature`` splits, flattens and types arguments. ``program`` traces a function for a signature.
``placement`` chooses the devices of a call. ``module`` lowers a program. ``request`` is the request
for an executable, which ``providers`` passes to caches, to interpreters that run until a program is
compiled, and at last to the compiler. ``executable`` runs it. ``miss`` goes through all of these,
for every call that C++ has not seen.
"""
