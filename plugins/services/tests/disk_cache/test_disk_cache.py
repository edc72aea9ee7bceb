"""The on-disk cache: what is in an entry, whose folders are used, how much is kept."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_backends import devices
from dovetail_core import config
from dovetail_jit import jit
from dovetail_jit.call import request
from dovetail_jit.serializing import deserialize_and_load, serialize
from dovetail_services.disk_cache import (
    folder as folders,
    provider,
    trust,
)
from dovetail_services.disk_cache.entry import DamagedEntry, decode, encode
from dovetail_services.disk_cache.options import (
    cache_dir,
    cache_max_size,
    cache_min_bytes,
    cache_min_seconds,
    cache_signed,
)
from dovetail_tree.util import tree_leaves
from dovetail_xla import execution, stripping
from dovetail_xla.client import device_list

X = np.linspace(0.1, 1.0, 4, dtype=np.float32)
KEY, AROUND, BODY = b"k" * 32, b'{"jaxlib": "1"}', bytes(range(256)) * 20
POSIX = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="modes say nothing there")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A folder that is the cache."""
    result = tmp_path / "cache"
    with cache_dir(str(result)):
        yield result


@pytest.fixture
def own_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The cache is signed; the secret is in a folder of the test's."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    with cache_signed(True):
        yield tmp_path / "config" / "dovetail" / "cache_secret"


def run(scale: float) -> None:
    """Compile a program, with the cache if there is one, and see that it is right."""
    compiled = jit(lambda x: lax.mul(lax.sin(x), scale)).lower(X).compile()
    np.testing.assert_allclose(compiled(X), scale * np.sin(X), rtol=1e-6)


def entries(place: Path) -> list[Path]:
    return sorted(place.glob("*.bin"))


def made(place: Path, scale: float) -> Path:
    """The entry of a program."""
    before = set(entries(place))
    run(scale)
    (result,) = set(entries(place)) - before
    return result


def hits(scale: float, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a program comes from the cache, without a warning."""
    compiled: list[Any] = []
    with monkeypatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = request.compile_uncached
        patch.setattr(request, "compile_uncached", lambda *a: compiled.append(0) or plain(*a))
        run(scale)
    return not compiled


# Entries.


def test_entries_are_found_and_replaced_when_damaged(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = made(place, 2.0)
    assert hits(2.0, monkeypatch)
    whole = entry.read_bytes()
    flipped = whole[:200] + bytes([whole[200] ^ 1]) + whole[201:]
    for damaged in (b"", b"junk", whole[: len(whole) // 2], flipped, whole + b"x", whole * 2):
        entry.write_bytes(damaged)
        with pytest.warns(RuntimeWarning, match="is damaged.*compiled again and the entry replace"):
            run(2.0)
        assert hits(2.0, monkeypatch)
    assert len(os.listdir(place)) == 1


def test_an_entry_of_another_program_is_not_run(place: Path) -> None:
    mine, other = made(place, 2.0), made(place, 3.0)
    mine.write_bytes(other.read_bytes())
    with pytest.warns(RuntimeWarning, match="it is of another program"):
        run(2.0)


def test_entries_of_earlier_formats_and_other_processors_are_misses(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = made(place, 2.0)
    whole = entry.read_bytes()
    entry.write_bytes(b"dovetail-executable-1\n" + zlib.compress(b"anything"))
    assert not hits(2.0, monkeypatch) and hits(2.0, monkeypatch)
    assert entry.read_bytes()[:17] == whole[:17]
    with monkeypatch.context() as patch:
        provider.environment.cache_clear()
        patch.setattr(provider, "_features", lambda: "of another processor")
        assert not hits(2.0, monkeypatch)
        (foreign,) = set(entries(place)) - {entry}
    provider.environment.cache_clear()
    entry.write_bytes(foreign.read_bytes())  # under the wrong name
    assert not hits(2.0, monkeypatch)


def test_what_an_entry_is_for(monkeypatch: pytest.MonkeyPatch) -> None:
    device = jit(lambda x: x)(X).device
    text = provider.environment(device).decode()
    for fact in ("jaxlib", "dovetail", "platform", "device_kind", "topology", "processor_features"):
        assert f'"{fact}"' in text
    assert " ".join(sorted(provider._features().split())) == provider._features()


@pytest.mark.parametrize("key_of", [None, b"secret" * 6])
def test_every_byte_of_an_entry_counts(key_of: bytes | None) -> None:
    whole = encode(KEY, AROUND, BODY, key_of)
    assert decode(whole, KEY, AROUND, key_of) == BODY
    for at in range(len(whole)):
        changed = bytearray(whole)
        changed[at] ^= 1 << at % 8
        with pytest.raises(DamagedEntry):
            decode(bytes(changed), KEY, AROUND, key_of)
    for end in range(len(whole)):
        with pytest.raises(DamagedEntry):
            decode(whole[:end], KEY, AROUND, key_of)
    with pytest.raises(DamagedEntry, match="its length is not the one that it states"):
        decode(whole + b"\0", KEY, AROUND, key_of)


def test_bodies_are_unpacked_to_the_stated_length_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for packed in (
        zlib.compress(bytes(10**6)),  # more than it states
        zlib.compress(BODY[:-1]),
        zlib.compress(BODY) + b"more",
        zlib.compress(BODY)[:-1],
        b"not packed",
    ):
        with monkeypatch.context() as patch:
            patch.setattr("dovetail_services.disk_cache.entry.zlib.compress", lambda *_: packed)  # noqa: B023
            whole = encode(KEY, AROUND, BODY, None)
        with pytest.raises(DamagedEntry, match="its body"):
            decode(whole, KEY, AROUND, None)
    with pytest.raises(DamagedEntry, match="it states a body of 0 bytes"):
        decode(encode(KEY, AROUND, b"", None), KEY, AROUND, None)


def test_signatures() -> None:
    signed = encode(KEY, AROUND, BODY, b"a" * 32)
    assert decode(signed, KEY, AROUND, None) == BODY
    for blob in (encode(KEY, AROUND, BODY, None), encode(KEY, AROUND, BODY, b"b" * 32)):
        with pytest.raises(DamagedEntry, match="not signed with this user's secret"):
            decode(blob, KEY, AROUND, b"a" * 32)


# What is in place of an entry.


def _fifo(entry: Path) -> None:
    os.mkfifo(entry)


def _link(entry: Path) -> None:
    target = entry.with_name("elsewhere")
    target.write_text("kept")
    entry.symlink_to(target)


def _others_may_write(entry: Path) -> None:
    entry.write_bytes(b"")
    entry.chmod(0o666)


@POSIX
@pytest.mark.parametrize(
    ("put", "reason"),
    [
        (_fifo, "it is not a plain file"),
        (_link, "it is not a plain file"),
        (_others_may_write, "it may be written to by everybody"),
    ],
)
def test_what_is_no_plain_file_of_the_user(
    place: Path, put: Callable[[Path], None], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = made(place, 2.0)
    entry.unlink()
    put(entry)
    with pytest.warns(RuntimeWarning, match=reason):
        run(2.0)
    assert hits(2.0, monkeypatch)
    if put is _link:
        assert (place / "elsewhere").read_text() == "kept"


def test_a_folder_in_place_of_an_entry(place: Path) -> None:
    entry = made(place, 2.0)
    entry.unlink()
    entry.mkdir()
    with pytest.warns(RuntimeWarning) as told:
        run(2.0)
    assert "it is not a plain file" in str(told[0].message)
    assert "cannot be written to" in str(told[1].message)
    assert [p.name for p in place.iterdir()] == [entry.name]


# Folders.


@POSIX
def test_folders_that_others_may_write_to_are_not_used(place: Path) -> None:
    place.mkdir()
    place.chmod(0o777)
    text = (
        rf"the compilation cache in {place} is not used: {place} may be written to by everybody\. "
        r"What is read from a cache is run as code\. Give compilation_cache_dir a directory that "
        r"you alone can write to \(chmod go-w\), or set compilation_cache_signed"
    )
    with pytest.warns(RuntimeWarning, match=text):
        run(2.0)
    with warnings.catch_warnings():  # once is enough
        warnings.simplefilter("error")
        run(3.0)
    assert not list(place.iterdir())
    place.chmod(0o755)
    run(2.0)
    assert len(list(place.iterdir())) == 1


@POSIX
def test_who_may_write_to_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    trust.check_folder(str(inner))
    inner.parent.chmod(0o777)
    with pytest.raises(trust.UntrustedFile, match=r"a may be written to by everybody"):
        trust.check_folder(str(inner))
    inner.parent.chmod(0o1777)  # as /tmp is
    trust.check_folder(str(inner))
    inner.chmod(0o1777)
    with pytest.raises(trust.UntrustedFile, match=r"b may be written to by everybody"):
        trust.check_folder(str(inner))
    inner.chmod(0o775)
    monkeypatch.setattr(trust, "_is_own_group", lambda gid, path: True)
    trust.check_folder(str(inner))
    monkeypatch.setattr(trust, "_is_own_group", lambda gid, path: False)
    with pytest.raises(trust.UntrustedFile, match=r"b may be written to by the group with number"):
        trust.check_folder(str(inner))
    inner.chmod(0o755)
    result = os.lstat(inner)
    with monkeypatch.context() as patch:
        others = SimpleNamespace(st_uid=54321, st_mode=result.st_mode, st_gid=0)
        patch.setattr(os, "lstat", lambda path: others)
        with pytest.raises(trust.UntrustedFile, match="b belongs to the user with number 54321"):
            trust.check_folder(str(inner))


@POSIX
def test_private_groups() -> None:
    import pwd

    user = pwd.getpwuid(os.geteuid())
    assert trust._is_own_group(0, "/")
    assert not trust._is_own_group(999999, "/")
    assert trust._is_own_group(user.pw_gid, "/") in (True, False)


def test_new_folders_are_the_user_s_alone(place: Path) -> None:
    with cache_dir(str(place / "x" / "y")):
        run(2.0)
    for each in (place, place / "x", place / "x" / "y"):
        assert stat.S_IMODE(each.stat().st_mode) == 0o700 or os.name != "posix"


def test_no_directory_is_no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert config.compilation_cache_dir is None
    monkeypatch.chdir(tmp_path)
    with cache_dir(""):
        assert config.compilation_cache_dir is None
        run(2.0)
    assert not list(tmp_path.iterdir())
    code = "import dovetail, dovetail.numpy as d; dovetail.jit(d.sin)(1.0)"
    for name in ("COMPILATION_CACHE_DIR", "JIT"):
        env = {**os.environ, f"DOVETAIL_{name}": ""}
        subprocess.run([sys.executable, "-c", code], env=env, check=True, timeout=300)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_deleted_is_made_again(place: Path) -> None:
    made(place, 2.0).unlink()
    place.rmdir()
    run(2.0)
    assert len(list(place.iterdir())) == 1


def test_folders_that_cannot_be_written_to(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with cache_dir(str(blocked)), pytest.warns(RuntimeWarning, match="cannot be written to") as w:
        run(4.0)
    assert len(w) == 1


def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless(self: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", homeless)
    with cache_dir("~/cache"), pytest.warns(RuntimeWarning, match="home.*Give its whole path"):
        run(2.0)


# What is written.


def test_what_compiles_quickly_or_is_small_is_not_written(place: Path) -> None:
    with cache_min_seconds(1e9):
        run(5.0)
    with cache_min_bytes(10**9):
        run(5.0)
    assert not entries(place)
    made(place, 5.0)


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), KeyboardInterrupt()]
)
@pytest.mark.parametrize("where", ["replace", "fchmod", "mid"])
def test_nothing_stays_of_a_write_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, where: str
) -> None:
    class HalfWritten:  # writes a part, then fails
        def __init__(self, file: int) -> None:
            self.file = file

        def __enter__(self) -> HalfWritten:
            return self

        def __exit__(self, *_: Any) -> None:
            os.close(self.file)

        def write(self, data: Any) -> int:
            os.write(self.file, bytes(data[:10]))
            raise error

    def fail(*_: Any, **__: Any) -> None:
        raise error

    if where == "mid":
        monkeypatch.setattr(
            folders, "open", lambda file, *_, **__: HalfWritten(file), raising=False
        )
    else:
        monkeypatch.setattr(os, where, fail)
    with pytest.raises(type(error)):
        folders.write_entry(str(tmp_path), "a.bin", b"x" * 100, shared=True)
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_told_once(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.warns(RuntimeWarning, match=r"cannot be written to \(No space left on device\)"):
        run(2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(3.0)
    assert not list(place.iterdir())


@POSIX
def test_temporary_files_of_the_dead_are_deleted(tmp_path: Path) -> None:
    file, living = folders._locked_temporary(str(tmp_path))
    dead = tmp_path / f"{folders._TEMPORARY}dead"
    dead.write_bytes(b"half")
    (tmp_path / "tmpabcdefgh").write_bytes(b"of somebody else")
    folders.remove_left_behind(str(tmp_path))
    assert sorted(os.listdir(tmp_path)) == sorted([os.path.basename(living), "tmpabcdefgh"])
    os.close(file)
    folders.remove_left_behind(str(tmp_path))
    assert os.listdir(tmp_path) == ["tmpabcdefgh"]


def test_where_there_are_no_locks_age_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "fcntl", None)
    for name, age in (("new", 0), ("old", 7200)):
        path = tmp_path / f"{folders._TEMPORARY}{name}"
        path.write_bytes(b"half")
        os.utime(path, (path.stat().st_mtime - age,) * 2)
    folders.remove_left_behind(str(tmp_path))
    assert os.listdir(tmp_path) == [f"{folders._TEMPORARY}new"]


def test_the_least_recently_used_go(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, gone = made(place, 2.0), made(place, 3.0)
    for seconds, entry in enumerate((kept, gone)):
        os.utime(entry, (seconds, seconds))
    assert hits(2.0, monkeypatch)  # now the other was used longest ago
    room = kept.stat().st_size + gone.stat().st_size
    with cache_max_size(room + 100):
        new = made(place, 4.0)
    assert set(entries(place)) == {kept, new}
    with cache_max_size(100), pytest.warns(RuntimeWarning, match="which may take 100"):
        run(5.0)
    assert set(entries(place)) == {kept, new}
    with cache_max_size(0):
        run(5.0)
    assert set(entries(place)) == {kept, new}
    with pytest.raises(ValueError, match="number of bytes, or -1 for no limit, got -2"):
        config.update("compilation_cache_max_size", -2)


def test_eviction_passes_over_what_it_cannot_delete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(4):
        (tmp_path / f"{n:064x}.bin").write_bytes(b"x" * 10)
        os.utime(tmp_path / f"{n:064x}.bin", (n, n))
    (tmp_path / f"{9:064x}.bin").mkdir()
    plain = os.unlink

    def unlink(path: str) -> None:
        if path.endswith("0.bin"):
            raise PermissionError(errno.EPERM, "another user's")
        plain(path)

    monkeypatch.setattr(os, "unlink", unlink)
    folders.evict(str(tmp_path), 20)
    assert sorted(p.name[-5] for p in tmp_path.iterdir()) == ["0", "3", "9"]


# Signed entries.


def test_signed_entries_in_a_folder_of_everybody(
    place: Path, own_secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.mkdir()
    place.chmod(0o1777)
    entry = made(place, 2.0)
    assert hits(2.0, monkeypatch)
    assert own_secret.stat().st_size == 32
    if os.name == "posix":
        assert stat.S_IMODE(own_secret.stat().st_mode) == 0o600
    with cache_signed(False), cache_dir(str(place.parent / "unsigned")):
        unsigned = made(place.parent / "unsigned", 2.0)
    entry.write_bytes(unsigned.read_bytes())
    with pytest.warns(RuntimeWarning, match="not signed with this user's secret"):
        run(2.0)
    own_secret.write_bytes(b"x" * 32)  # another user
    assert not hits(2.0, monkeypatch) and hits(2.0, monkeypatch)
    assert len(entries(place)) == 2


@POSIX
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda p: p.chmod(0o644), "others may read it"),
        (lambda p: p.chmod(0o622), "may be written to by"),
        (lambda p: p.write_bytes(b"short"), "has 5 bytes, not 32"),
        (lambda p: p.write_bytes(b"x" * 40), "has 40 bytes"),
        (lambda p: p.parent.chmod(0o777), "may be written to by everybody"),
        (
            lambda p: (p.rename(p.with_name("s")), p.symlink_to(p.with_name("s"))),
            "not a plain file",
        ),
    ],
)
def test_a_secret_that_is_none(
    place: Path, own_secret: Path, change: Callable[[Path], Any], reason: str
) -> None:
    run(2.0)
    change(own_secret)
    with pytest.warns(RuntimeWarning, match=f"is not used: .*{reason}"):
        run(3.0)
    assert len(entries(place)) == 1


def test_of_two_that_make_the_secret_one_is_first(own_secret: Path) -> None:
    first = trust.user_secret()
    trust._make(own_secret)
    assert trust.user_secret() == first
    assert os.listdir(own_secret.parent) == ["cache_secret"]


# Lighter executables.


def test_executables_that_load_quicker_compute_and_show_the_same(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stripping, "LEAST", 0)

    def f(x: Any, w: Any) -> Any:
        def body(carry: Any) -> Any:
            i, y = carry
            return lax.add(i, np.int32(1)), lax.tanh(lax.dot(y, w))

        _, y = lax.while_loop(lambda c: lax.lt(c[0], np.int32(3)), body, (np.int32(0), x))
        return lax.exp(lax.sin(y)), lax.sort(lax.reshape(lax.cos(y), (64,)))[:10]

    x = np.linspace(-1, 1, 64, dtype=np.float32).reshape(8, 8)
    for g in (f, lambda x, w: lax.log(lax.abs(f(x, w)[0]))):
        plain = jit(g).lower(x, x).compile()
        again = jit(lambda x, w, g=g: g(x, w)).lower(x, x).compile()
        for a, b in zip(tree_leaves(plain(x, x)), tree_leaves(again(x, x))):
            np.testing.assert_array_equal(a, b)
    assert any(b"whole" in e.read_bytes() for e in entries(place))
    made, result = (jit(lambda x: lax.sin(lax.cos(x))).lower(X).compile() for _ in range(2))
    light = result._executable.loaded
    assert stripping.is_stripped(execution.hlo_text(light))
    assert " cosine(" in result.as_text() and " cosine(" not in execution.hlo_text(light)
    assert result.as_text() == made.as_text()
    assert result.cost_analysis() == made.cost_analysis()
    for entry in entries(place):
        if b"whole" in entry.read_bytes():
            entry.unlink()
    assert result.as_text() == made.as_text()
    monkeypatch.setattr(stripping, "_KNOWN", ())
    assert stripping.strip_hlo(execution.serialize(made._executable.device.client, light)) is None


def test_fusions_that_are_machine_code_are_one_instruction_without_operands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stripping, "LEAST", 0)
    convolve = lambda x, w: lax.conv(x, w, (1, 1), "SAME")  # noqa: E731
    made = jit(lambda x, w: lax.sin(convolve(lax.cos(x), w))).lower(
        np.ones((1, 2, 4, 4), np.float32), np.ones((2, 2, 3, 3), np.float32)
    )
    loaded = made.compile()._executable.loaded
    device = devices("cpu")[0]
    blob = execution.serialize(device.client, loaded)
    light = stripping.strip_hlo(blob)
    assert light is not None and len(light) < len(blob)
    text = execution.hlo_text(execution.deserialize(device.client, light, device_list([device])))
    assert 'custom-call(), custom_call_target="dovetail.compiled"' in text
    assert "calls=" not in text and "metadata" not in text


def test_what_is_no_serialized_executable_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stripping, "LEAST", 0)
    for blob in (b"", b"\x01", b"junk" * 100, bytes(300), b"\xff" * 300):
        assert stripping.strip_hlo(blob) is None


def test_programs_from_the_cache_can_be_serialized(place: Path) -> None:
    def compiled() -> Any:
        x = np.ones((4, 4), np.float32)
        f = jit(lambda x, y: lax.concatenate([lax.dot(lax.sin(x), y), lax.dot(lax.cos(y), x)], 0))
        return f.lower(x, x).compile()

    want = compiled()(np.eye(4, dtype=np.float32), np.eye(4, dtype=np.float32))
    result = compiled()
    assert result._executable.was_loaded
    again = deserialize_and_load(*serialize(result))
    got = again(np.eye(4, dtype=np.float32), np.eye(4, dtype=np.float32))
    assert np.asarray(got).tobytes() == np.asarray(want).tobytes()
    with pytest.raises(ValueError, match=r"serialize of <lambda>.*loaded from bytes\. Keep those"):
        serialize(again)
