"""Programs recognised by the code of their functions: a later process need not trace them.

``libraries`` tells which modules are taken at their version, ``functions`` what code refers to,
``digest`` and ``kinds`` make the digest of all that a function is made of, and ``provider`` looks
it up in the cache on disk.
"""
