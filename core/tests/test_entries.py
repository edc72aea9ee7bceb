"""Entry points are read from files as ``importlib.metadata`` reads them, or by it."""

import importlib.metadata
import sys

from dovetail_base import entry_points

installed = entry_points.installed  # which tests of the kernel do without


def write(path, name, **files):
    folder = path / name
    folder.mkdir()
    for file, text in files.items():
        (folder / {"points": "entry_points.txt", "info": "PKG-INFO"}.get(file, file)).write_text(
            text
        )


def read(path, group="acme.group"):
    """What is found by files and by metadata, which must be the same."""
    plain, problems = installed(group, [str(path)])
    assert (plain, problems) == entry_points._by_metadata(group, [str(path)])
    return plain, problems


def test_entries_of_the_environment():
    for group in ("pytest11", "console_scripts", "dovetail.plugins"):
        ours = sorted(entry_points.Entry(*e) for e in entry_points._plain(group, sys.path))
        theirs = importlib.metadata.entry_points(group=group)
        assert [(e.name, e.value) for e in ours] == sorted((e.name, e.value) for e in theirs)
        for entry in ours:
            assert importlib.metadata.version(entry.distribution) == entry.version


def test_entries_of_folders(tmp_path):
    write(
        tmp_path,
        "Acme_dist-1.0.dist-info",
        points="# note\n\n[other]\na = b\n[acme.group]\n one = acme.m : X.y [extra]\ntwo=acme\n",
        METADATA="Metadata-Version: 2.1\nName: Acme-Dist\nVersion: 1.0\n\nName: body\n",
    )
    write(
        tmp_path,
        "acme.dist-2.0.dist-info",
        points="[acme.group]\nlate = z\n",
        METADATA="Name: acme.dist\n",
    )
    write(
        tmp_path,
        "old-3-py3.11.egg-info",
        points="[acme.group]\nold = o:O\n",
        info="Name: old\nVersion: 3\n",
    )
    write(tmp_path, "bare-1.dist-info", points="[acme.group]\nbare = b:B\n")
    result, problems = read(tmp_path)
    assert not problems
    by_name = {e.name: e for e in result}
    assert by_name["old"][2:] == ("old", "3")
    assert by_name["bare"][2:] == ("bare-1.dist-info", entry_points.UNKNOWN)
    assert ("late" in by_name) != ("one" in by_name)  # of two of a name the first counts
    if "one" in by_name:
        assert by_name["one"][2:] == ("Acme-Dist", "1.0") and by_name["one"].module == "acme.m"


def test_versions_of_distributions(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("jaxlib", "Pytest", "ml-dtypes", "ml_dtypes"):
        assert entry_points.installed_version(name) == importlib.metadata.version(name)
    assert entry_points.installed_version("acme-late") == ""
    write(tmp_path, "acme_late-1.5.dist-info", METADATA="Name: acme-late\nVersion: 1.5\n")
    assert entry_points.installed_version("acme.late") == "1.5"


def test_what_does_not_parse_is_reported(tmp_path):
    write(
        tmp_path,
        "torn-1.dist-info",
        points="[acme.group]\nnonsense\n",
        METADATA="Name: torn\nVersion: 1\n",
    )
    write(
        tmp_path,
        "good-1.dist-info",
        points="[acme.group]\ng = g:G\n",
        METADATA="Name: good\nVersion: 1\n",
    )
    result, problems = read(tmp_path)
    assert [e.name for e in result] == ["g"]
    assert len(problems) == 1 and problems[0].startswith(
        "the entry points of torn 1 cannot be read"
    )


def test_an_entry_is_loaded():
    assert (
        entry_points.Entry("x", "os.path:join [fast]", "", "").load() is __import__("os").path.join
    )
    assert entry_points.Entry("x", "os.path", "", "").load() is __import__("os").path


def test_finders_of_others_are_asked(tmp_path):
    class Finder:
        def find_distributions(self, context):
            return [Virtual()]

        def find_spec(self, *args):
            return None

    class Virtual(importlib.metadata.Distribution):
        def read_text(self, name):
            return {
                "METADATA": "Name: virtual\nVersion: 7\n",
                "entry_points.txt": "[acme.group]\nv = v:V\n",
            }.get(name)

        def locate_file(self, path):
            raise NotImplementedError

    finder = Finder()
    sys.meta_path.append(finder)
    try:
        result, _ = installed("acme.group", [str(tmp_path)])
    finally:
        sys.meta_path.remove(finder)
    assert result == [entry_points.Entry("v", "v:V", "virtual", "7")]
