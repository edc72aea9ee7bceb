"""The on-disk compilation cache: compiled programs, found again by later processes.

What is loaded from it is run as code, so nothing is taken on trust: ``trust`` says whose folders
and files may be used, ``entry`` checks every byte of an entry, ``identity`` says for what versions
and processor it is, ``secret`` is what entries are signed with, ``folder`` reads, writes and
forgets, ``store`` puts these together. ``provider`` asks for executables and writes those that are
not there, ``record`` says what else of a program is kept.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..call.digest import (
        facts_of_compiling as facts_of_compiling,
        program_key as program_key,
    )
    from ..call.request import all_options as all_options, compile_anew as compile_anew
    from .identity import environment as environment
    from .options import (
        cache_dir as cache_dir,
        cache_max_size as cache_max_size,
        cache_min_bytes as cache_min_bytes,
        cache_min_seconds as cache_min_seconds,
        cache_mode as cache_mode,
        cache_signed as cache_signed,
    )
    from .provider import (
        compile_with_cache as compile_with_cache,
        load_executable as load_executable,
    )
    from .record import (
        NotRecorded as NotRecorded,
        Record as Record,
        decode_record as decode_record,
        encode_record as encode_record,
    )
    from .store import Store as Store, open_store as open_store
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
