"""The reference of the library: signatures and docstrings of what a page names.

A page asks for an entry by a line `::: belated.Bandit: ask tell`: the object, and the methods that
are shown with it.
"""

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from dataclasses import is_dataclass
from typing import Any, NamedTuple

ENTRY = re.compile(r"^::: (?P<name>[\w.]+)(?::(?P<members>[\w ]*))?$", re.MULTILINE)
LINE = 88  # letters of a signature that fit into one line
SECTION = re.compile(r"^(Args|Examples?):\n(.*?)(?=^\S|\Z)", re.DOTALL | re.MULTILINE)
ARGUMENT = re.compile(r"^    (\w+): (.*?)(?=^    \S|\Z)", re.DOTALL | re.MULTILINE)
SESSION = re.compile(r"^>>> .*?(?=^\s*$|\Z)", re.DOTALL | re.MULTILINE)


class Entry(NamedTuple):
    """What a line of a page asks for."""

    name: str
    members: tuple[str, ...]


def entries(text: str) -> Iterator[Entry]:
    """Yield what a page asks for, in order."""
    for match in ENTRY.finditer(text):
        yield Entry(match["name"], tuple((match["members"] or "").split()))


def with_reference(text: str) -> str:
    """Return a page with each entry in the place of the line that asks for it."""

    def filled(match: re.Match[str]) -> str:
        [entry] = entries(match[0])
        return "\n".join(shown(entry))

    return ENTRY.sub(filled, text)


def named(name: str) -> Any:
    """Return the object of this name, from the module before its last dot."""
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)


def shown(entry: Entry) -> Iterator[str]:
    """Yield the lines of an entry."""
    subject, short = named(entry.name), entry.name.rpartition(".")[2]
    yield f"## {short} {{ #{entry.name} }}\n"
    yield from described(subject, short)
    for member in entry.members:
        yield f"### {short}.{member} {{ #{entry.name}.{member} }}\n"
        yield from described(getattr(subject, member), member)


def described(subject: Any, name: str) -> Iterator[str]:
    """Yield the signature of an object and its docstring as Markdown."""
    made = signature(subject, name)
    if made:
        yield f"```python\n{made}\n```\n"
    yield as_markdown(inspect.getdoc(subject) or "") + "\n"


def as_markdown(docstring: str) -> str:
    """Return a docstring with its arguments as a list and its examples as code."""

    def section(match: re.Match[str]) -> str:
        if match[1] != "Args":
            return textwrap.dedent(match[2])
        found = ARGUMENT.findall(match[2])
        listed = (f"- `{name}`: {' '.join(text.split())}" for name, text in found)
        return "\n".join(listed) + "\n\n"

    text = SECTION.sub(section, docstring)
    return SESSION.sub(lambda match: f"```pycon\n{match[0].rstrip()}\n```\n", text)


def signature(subject: Any, name: str) -> str:
    """Return how an object is called, as its source says it; nothing for what is not called."""
    if not callable(subject):
        return ""
    called = subject
    if inspect.isclass(subject):
        if is_dataclass(subject) or issubclass(subject, tuple) or "__init__" not in vars(subject):
            return fields(subject)
        called = subject.__init__
    [function] = ast.parse(textwrap.dedent(inspect.getsource(called))).body
    assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
    listed = parameters(function.args)
    returned = "" if inspect.isclass(subject) else returns(function)
    line = f"{name}({', '.join(listed)}){returned}"
    if len(line) <= LINE:
        return line
    return "\n".join([f"{name}(", *(f"    {each}," for each in listed), f"){returned}"])


def returns(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Return the arrow and the type; methods of the clients return what their request answers."""
    if function.returns is None:
        return ""
    return " -> " + re.sub(r"^Call\[(.*)\]$", r"\1", ast.unparse(function.returns))


def parameters(arguments: ast.arguments) -> list[str]:
    """Return the parameters as they are written, without `self`."""
    positional = [*arguments.posonlyargs, *arguments.args]
    required = len(positional) - len(arguments.defaults)
    made = [
        written(each, arguments.defaults[k - required] if k >= required else None)
        for k, each in enumerate(positional)
    ]
    if arguments.posonlyargs:
        made.insert(len(arguments.posonlyargs), "/")
    if arguments.vararg:
        made.append(f"*{written(arguments.vararg)}")
    elif arguments.kwonlyargs:
        made.append("*")
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    made += [written(each, default) for each, default in pairs]
    if arguments.kwarg:
        made.append(f"**{written(arguments.kwarg)}")
    return [each for each in made if each not in ("self", "cls")]


def written(parameter: ast.arg, default: ast.expr | None = None) -> str:
    """Return a parameter with its type and its default."""
    text = parameter.arg
    if parameter.annotation:
        text += f": {ast.unparse(parameter.annotation)}"
    return text if default is None else f"{text} = {ast.unparse(default)}"


def fields(kind: type) -> str:
    """Return the fields of a record, a line each, as its source has them."""
    [record] = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(record, ast.ClassDef)
    lines = [each for each in record.body if isinstance(each, ast.AnnAssign | ast.Assign)]
    return "\n".join(ast.unparse(each) for each in lines if not private(each))


def private(line: ast.AnnAssign | ast.Assign) -> bool:
    """Whether a line of a class sets a name that begins with an underscore."""
    target = line.target if isinstance(line, ast.AnnAssign) else line.targets[0]
    return isinstance(target, ast.Name) and target.id.startswith("_")
