"""Other people's libraries on Dovetail: their own tests and programs, beside genuine JAX.

Everything happens in one environment below ``build/ecosystem`` in which both genuine JAX and
Dovetail are installed: the same interpreter runs the same files once plainly and once with
``DOVETAIL_AS_JAX=1``. One environment for all, because the pinned versions agree with each other;
what is asked for is added to it.
"""
