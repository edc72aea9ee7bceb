"""Look-up of primitives and tables by the names that users type."""

from __future__ import annotations

from difflib import get_close_matches

from dovetail_base.errors import RegistryError
from dovetail_core import Primitive

from . import rules


def find_table(name: str) -> str:
    """The full name of a table; the part after the dot suffices if it is unique.

    Raises:
        RegistryError: no table, or more than one, has that name; lists the tables.
    """
    known = rules.table_names()
    if name in known:
        return name
    fits = [c for c in known if c.rpartition(".")[2] == name]
    if len(fits) == 1:
        return fits[0]
    if fits:
        raise RegistryError(f"table {name!r} may be {' or '.join(fits)}")
    raise RegistryError(f"no table is called {name!r}; there are {', '.join(known)}")


def find_primitive(name: str) -> Primitive:
    """The primitive of that name.

    Raises:
        RegistryError: there is none; lists similar names.
    """
    known = rules.all_primitives()
    if name in known:
        return known[name]
    close = get_close_matches(name, known, 3) + [n for n in known if n.endswith(f".{name}")]
    hint = f"did you mean {', '.join(dict.fromkeys(close))}?" if close else "see dovetail matrix"
    raise RegistryError(f"no primitive is called {name!r}; {hint}")
