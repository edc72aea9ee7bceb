"""Look at the facade as users' tools do: every public name has a type, and editors complete it.

    python tools/check_typing.py [PYTHON]

Pyright is asked, in its strict mode, for the type of each name of each module of ``dovetail`` that
is installed where PYTHON is (by default here), and about names that do not exist; its language
server, for completions and what they say. Prints a line per problem; exits with 1 if there was any.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

NAMES = """
import dovetail, importlib, json, pkgutil
below = pkgutil.walk_packages(dovetail.__path__, "dovetail.")
names = {m: importlib.import_module(m).__all__ for m in
         ["dovetail", *sorted(m.name for m in below if not m.name.endswith("__main__"))]}
names["dovetail"].append("version")  # the one module that no manifest gives
print(json.dumps(names))
"""
WRONG = "no_such_name"


def public_names(python: str) -> dict[str, list[str]]:
    """The modules of the facade and what they have at run time."""
    done = subprocess.run([python, "-c", NAMES], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def program(names: dict[str, list[str]]) -> list[str]:
    """A user's program that uses every name, and for each module a wrong one in two ways."""
    lines = [f"import {module}" for module in names]
    lines += [f"reveal_type({m}.{n})" for m, own in names.items() for n in own]
    for module in names:
        lines += [f"{module}.{WRONG}", f"from {module} import {WRONG}"]
    return lines


def check_types(names: dict[str, list[str]], folder: Path, python: str) -> Iterator[str]:
    """What pyright says of the program: a known type of each name, an error for each wrong one."""
    lines = program(names)
    (folder / "program.py").write_text("\n".join(lines))
    (folder / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    command = [Path(sys.executable).with_name("pyright"), "--outputjson", "--pythonpath", python]
    done = subprocess.run([*command, "-p", folder], capture_output=True, text=True)
    said: dict[int, list[str]] = {}
    for result in json.loads(done.stdout)["generalDiagnostics"]:
        said.setdefault(result["range"]["start"]["line"], []).append(result["message"])
    for number, line in enumerate(lines):
        messages = said.get(number, [])
        if WRONG in line:
            ways = ("is not a known attribute of module", "is unknown import symbol")
            if not any(way in message for message in messages for way in ways):
                yield f"{line}: pyright reports no error, so that wrong names pass"
        elif line.startswith("reveal_type") and not is_known(messages):
            yield f"{line}: {'; '.join(messages) or 'no type'}"


def is_known(messages: list[str]) -> bool:
    """Whether all that is said of a name is its type, and every part of that is known."""
    return [m.startswith("Type of ") and "Unknown" not in m for m in messages] == [True]


class LanguageServer:
    """Pyright as editors use it: messages of the language server protocol on standard streams."""

    def __init__(self, folder: Path, python: str) -> None:
        self.python, self.count = python, 0
        server = Path(sys.executable).with_name("pyright-langserver")
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([server, "--stdio"], stdin=pipe, stdout=pipe)
        uri = folder.as_uri()
        folders = [{"uri": uri, "name": "user"}]
        abilities = {"workspace": {"configuration": True, "workspaceFolders": True}}
        self.ask(
            "initialize",
            {"processId": None, "rootUri": uri, "workspaceFolders": folders}
            | {"capabilities": abilities},
        )
        self.tell("initialized", {})

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def tell(self, method: str, params: Any) -> None:
        self.send({"method": method, "params": params})

    def receive(self) -> dict[str, Any]:
        stream, length = self.process.stdout, 0
        assert stream is not None
        while header := stream.readline().strip():
            if header.lower().startswith(b"content-length:"):
                length = int(header.split(b":")[1])
        return json.loads(stream.read(length))

    def ask(self, method: str, params: Any) -> Any:
        """The answer to a request; what the server asks meanwhile is answered."""
        self.count += 1
        self.send({"id": self.count, "method": method, "params": params})
        while True:
            message = self.receive()
            if message.get("id") == self.count and "method" not in message:
                return message["result"]
            if "method" in message and "id" in message:
                wanted = message.get("params", {}).get("items", [])
                settings = [{"pythonPath": self.python} for _ in wanted]
                self.send({"id": message["id"], "result": settings or None})

    def completions(self, uri: str, text: str) -> dict[str, Any]:
        """What may follow the end of a text, by label."""
        lines = text.split("\n")
        document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})
        place = {"line": len(lines) - 1, "character": len(lines[-1])}
        params = {"textDocument": {"uri": uri}, "position": place}
        return {i["label"]: i for i in self.ask("textDocument/completion", params)["items"]}

    def close(self) -> None:
        self.ask("shutdown", None)
        self.tell("exit", None)
        self.process.wait()


def check_completion(names: dict[str, list[str]], folder: Path, python: str) -> Iterator[str]:
    """What an editor offers after ``dovetail.numpy.``: the public names, and what each one is.

    To pyright ``from .module import name`` in a package makes ``module`` a name of it, too, so that
    packages whose ``__all__`` is their listing say ``from package.module import name``.
    """
    server = LanguageServer(folder, python)
    for module, own in names.items():
        uri = (folder / f"{module}_completed.py").as_uri()
        offered = server.completions(uri, f"import {module}\n{module}.")
        extra = {n for n in offered if not n.startswith("__")} - {*own, "TYPE_CHECKING"}
        for what, result in (("missing", set(own) - set(offered)), ("not public", extra)):
            if result:
                yield f"completion of {module}.: {what}: {', '.join(sorted(result))}"
        for name in set(own) & set(offered):
            item = server.ask("completionItem/resolve", offered[name])
            text = item.get("documentation", {}).get("value", "")
            if name not in text:
                yield f"completion of {module}.: of {name} it says only {text!r}"
    server.close()


def main() -> int:
    """Check the facade of the interpreter that is named on the command line, or of this one."""
    python = sys.argv[1] if len(sys.argv) > 1 else sys.executable
    names = public_names(python)
    with TemporaryDirectory() as folder:
        problems = [*check_types(names, Path(folder), python)]
        problems += check_completion(names, Path(folder), python)
    count = sum(map(len, names.values()))
    print("\n".join(problems) or f"typing: {count} names of {len(names)} modules have their types")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
