"""The compilation cache by functions, and profiles for XLA."""

from __future__ import annotations

import glob

import pytest

import dovetail
from dovetail import config, numpy as dnp
from dovetail.experimental.compilation_cache import compilation_cache
from dovetail.experimental.profiler import get_profiled_instructions_proto


def test_the_compilation_cache(tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    assert not compilation_cache.is_initialized()
    try:
        for start in (compilation_cache.set_cache_dir, compilation_cache.initialize_cache):
            start(folder)
            assert compilation_cache.is_initialized()
            assert config.compilation_cache_dir == str(folder)
        dovetail.jit(lambda x: dnp.sin(x) * 3.125)(1.0)
        assert any(folder.iterdir())
    finally:
        compilation_cache.reset_cache()
    assert config.compilation_cache_dir is None and any(folder.iterdir())
    for wrong in (3, ""):
        with pytest.raises(
            TypeError, match=r"set_cache_dir at .*test_tools.py.* give the path of a"
        ):
            compilation_cache.set_cache_dir(wrong)


def test_profiled_instructions(tmp_path):
    with dovetail.profiler.trace(str(tmp_path)):
        dovetail.jit(dnp.sin)(1.0).block_until_ready()
    (folder,) = glob.glob(f"{tmp_path}/plugins/profile/*")
    assert get_profiled_instructions_proto(folder) == b""  # no GPU has run
    with pytest.raises(
        FileNotFoundError, match=r"no profile \(\*.xplane.pb\) in .*give the folder"
    ):
        get_profiled_instructions_proto(tmp_path)
