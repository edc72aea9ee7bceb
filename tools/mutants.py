"""The small changes that `mutate.py` makes to the sources: which there are, and where.

A mutant replaces one expression or statement by text, so that every other line stays where it was.
Left alone is what no test could or should tell apart: docstrings, annotations and type aliases,
`__repr__`, `__slots__`, the texts of errors, blocks for type checkers, decorators that only cache.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
TYPING = {"cast", "TypeVar", "ParamSpec", "NewType", "overload"}
UNSEEN = {"annotation", "returns", "type_params", "ctx"}


@dataclass(frozen=True)
class Mutant:
    """One change: bytes ``start`` to ``end`` of ``path`` become ``text``.

    Attributes:
        lines: the first and last line of the statement, as far as the change concerns it.
        inside: whether these lines belong to a function; others run on import.
        place, old, new: the function, and the changed lines before and after, to know it again by.
    """

    path: str
    kind: str
    start: int
    end: int
    text: str
    lines: tuple[int, int]
    inside: bool
    place: str
    old: str
    new: str

    @property
    def key(self) -> str:
        """What a mutant is known by while the lines around it change."""
        return "\n".join((self.path, self.place, self.old, self.new))

    def applied(self, source: bytes) -> bytes:
        """The source with the change."""
        return source[: self.start] + self.text.encode() + source[self.end :]


def mutants(root: Path, path: str) -> list[Mutant]:
    """Every mutant of the file ``path`` below ``root``."""
    source = (root / path).read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    result: list[Mutant] = []
    for kind, node, text, statement, place, inside in _changes(ast.parse(source)):
        start = starts[node.lineno - 1] + node.col_offset
        first, last = node.lineno - 1, node.end_lineno or node.lineno
        end = starts[last - 1] + (node.end_col_offset or 0)
        after = source[starts[first] : start] + text.encode() + source[end : starts[last]]
        old, new = source[starts[first] : starts[last]].decode().rstrip(), after.decode().rstrip()
        if old != new:
            lines = _extent(statement)
            result.append(Mutant(path, kind, start, end, text, lines, inside, place, old, new))
    return result


def _extent(statement: ast.stmt) -> tuple[int, int]:
    """The lines of a simple statement, or of the head of a compound one."""
    body = getattr(statement, "body", None)
    last = statement.end_lineno or statement.lineno
    return statement.lineno, max(statement.lineno, body[0].lineno - 1) if body else last


def _changes(tree: ast.Module) -> Iterator[tuple[str, ast.expr, str, ast.stmt, str, bool]]:
    """Kind, node, new text, statement, place, and whether in a function; over the whole tree."""
    waiting: list[tuple[ast.AST, ast.stmt, str, bool]] = [
        (s, s, "", False) for s in reversed(tree.body)
    ]
    while waiting:
        node, statement, place, inside = waiting.pop()
        if _is_left_alone(node, inside):
            continue
        if isinstance(node, ast.stmt):
            statement = node
        for kind, at, text in _alternatives(node):
            yield kind, at, text, statement, place, inside
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            place = f"{place}.{node.name}"
            inside = inside or not isinstance(node, ast.ClassDef)
        if isinstance(node, ast.Raise):  # what it says is no behaviour
            continue
        for field, value in reversed(list(ast.iter_fields(node))):
            for child in reversed(value if isinstance(value, list) else [value]):
                if isinstance(child, ast.AST) and field not in UNSEEN:
                    runs_before = field in {"decorator_list", "args"} and isinstance(node, ast.stmt)
                    waiting.append((child, statement, place, inside and not runs_before))


def _is_left_alone(node: ast.AST, inside: bool) -> bool:
    match node:
        case ast.Expr(value=ast.Constant()) | ast.JoinedStr() | ast.Import() | ast.ImportFrom():
            return True
        case (
            ast.FunctionDef(name="__repr__")
            | ast.Assign(targets=[ast.Name(id="__slots__" | "__all__")])
        ):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.Call(func=ast.Name(id="TypeVar")):
            return True
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript() | ast.BinOp()):
            return not inside and name[:1].isupper() and not name.isupper()  # an alias of a type
        case ast.Call(func=ast.Name(id="cache" | "lru_cache")):
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in TYPING
        case _:
            return False


def _alternatives(node: ast.AST) -> Iterator[tuple[str, ast.expr, str]]:
    """Kind, node to replace, and its new text."""
    if isinstance(node, ast.stmt):
        yield from _of_statement(node)
    elif isinstance(node, ast.expr):
        for kind, text in _of_expression(node):
            yield kind, node, text
    elif isinstance(node, ast.comprehension):
        for test in node.ifs:
            yield from _forced(test)
    if isinstance(node, (ast.If, ast.While, ast.IfExp)):
        yield from _forced(node.test)


def _forced(test: ast.expr) -> Iterator[tuple[str, ast.expr, str]]:
    for text in ("True", "False", f"(not {ast.unparse(test)})"):
        yield "condition", test, text


def _of_statement(node: ast.stmt) -> Iterator[tuple[str, ast.expr, str]]:
    at: ast.expr = node  # type: ignore[assignment]  # both have places
    match node:
        case ast.Return(value=ast.expr()):
            yield "return", at, "return None"
        case ast.Continue() | ast.Break() | ast.Delete() | ast.Expr(value=ast.Call()):
            yield "statement", at, "pass"
        case ast.Raise(exc=ast.Name(id="NotImplementedError")):
            pass  # an abstract method
        case ast.Raise():
            yield "raise", at, "pass"
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            yield "assignment", value, "None"
        case ast.AugAssign(op=op) if type(op) in ARITHMETIC:
            yield "arithmetic", at, ast.unparse(_with(node, op=ARITHMETIC[type(op)]()))
            yield "assignment", at, "pass"


def _of_expression(node: ast.expr) -> Iterator[tuple[str, str]]:
    match node:
        case ast.Compare(ops=ops):
            for i, op in enumerate(ops):
                for other in COMPARISONS[type(op)]:
                    changed = [*ops[:i], other(), *ops[i + 1 :]]
                    yield "comparison", f"({ast.unparse(_with(node, ops=changed))})"
        case ast.BoolOp(op=op):
            other = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield "boolean", f"({ast.unparse(_with(node, op=other))})"
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield "boolean", f"({ast.unparse(operand)})"
        case ast.BinOp(op=op) if type(op) in ARITHMETIC:
            yield "arithmetic", f"({ast.unparse(_with(node, op=ARITHMETIC[type(op)]()))})"
        case ast.Constant(value=value):
            for other in _other_constants(value):
                yield "constant", repr(other)
        case ast.Call(args=args, keywords=keywords):
            for i in range(len(args)):
                yield "argument", ast.unparse(_with(node, args=args[:i] + args[i + 1 :]))
            for i in range(len(keywords)):
                fewer = keywords[:i] + keywords[i + 1 :]
                yield "argument", ast.unparse(_with(node, keywords=fewer))
            if len(args) > 1 and not any(isinstance(x, ast.Starred) for x in args[:2]):
                yield "argument", ast.unparse(_with(node, args=[args[1], args[0], *args[2:]]))


def _other_constants(value: object) -> tuple[object, ...]:
    match value:
        case bool():
            return (not value,)
        case int():
            return (value + 1, 0) if value else (1,)
        case float():
            return (value * 2 if value else 1.0,)
        case str():
            return ("",) if value else ("mutant",)
    return ()


def _with(node: ast.AST, **fields: object) -> ast.AST:
    return type(node)(**{**dict(ast.iter_fields(node)), **fields})
