"""The on-disk compilation cache: compiled programs, found again by later processes.

What is loaded from it is run as code, so nothing is taken on trust: ``trust`` says whose folders
and files may be used, ``entry`` checks every byte of an entry, ``identity`` says of what program,
versions and processor it is, ``secret`` is what entries are signed with, ``folder`` reads, writes
and forgets, ``cache`` puts them together, and ``compiling`` asks it.
"""

from .compiling import compile_anew as compile_anew, compile_with_cache as compile_with_cache
from .options import (
    cache_dir as cache_dir,
    cache_max_size as cache_max_size,
    cache_min_bytes as cache_min_bytes,
    cache_min_seconds as cache_min_seconds,
    cache_signed as cache_signed,
)
