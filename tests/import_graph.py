"""The imports of the package as a graph, read from the sources; nothing is imported to draw it.

Imports inside functions count as much as those at the top of a file, and are marked as lazy.
Imports under `if TYPE_CHECKING:` do not count: at run time they do not exist.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"


class Import(NamedTuple):
    """One module imports another, when it is imported itself or, if lazy, when a function runs."""

    importer: str
    imported: str
    line: int
    lazy: bool

    def __str__(self) -> str:
        how = "imports inside a function" if self.lazy else "imports"
        return f"{self.importer}:{self.line} {how} {self.imported}"


def module_of(path: Path, folder: Path = SOURCE) -> str:
    """The dotted name of the module in a file below a folder."""
    return ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")


def modules(folder: Path = SOURCE) -> dict[str, Path]:
    """All modules below a folder by their dotted names."""
    return {module_of(path, folder): path for path in sorted(folder.rglob("*.py"))}


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imports_of(module: str, path: Path, known: Iterable[str]) -> list[Import]:
    """What a module imports: modules of the package in full, anything else by its first name."""
    known = set(known)
    found = []
    for node, lazy in _import_nodes(tree_of(path)):
        for name in _names(node):
            parent = name.rpartition(".")[0]
            whole = name if name in known else parent if parent in known else name.split(".")[0]
            found.append(Import(module, whole, node.lineno, lazy))
    return found


@cache
def package_imports() -> list[Import]:
    """All imports of the package."""
    known = modules()
    return [each for name, path in known.items() for each in imports_of(name, path, known)]


def _import_nodes(tree: ast.AST, lazy: bool = False) -> Iterator[tuple[ast.stmt, bool]]:
    """The import statements of a tree with whether they are inside a function."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, lazy
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for each in node.orelse:
                yield from _import_nodes(each, lazy)
        else:
            inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _import_nodes(node, lazy or inside)


def _names(node: ast.stmt) -> list[str]:
    """The dotted names that a statement imports; a name from a module may be a module itself."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    assert isinstance(node, ast.ImportFrom)
    assert node.level == 0, f"line {node.lineno}: imports in this project name the whole module"
    return [f"{node.module}.{alias.name}" for alias in node.names]


def neighbours(imports: Iterable[Import]) -> dict[str, set[str]]:
    """The modules that each module imports."""
    graph: dict[str, set[str]] = {}
    for each in imports:
        graph.setdefault(each.importer, set()).add(each.imported)
    return graph


def reached(graph: Mapping[str, set[str]], starts: Iterable[str]) -> set[str]:
    """All modules that are imported, however indirectly, when some are; with their packages."""
    waiting, found = list(starts), set()
    while waiting:
        module = waiting.pop()
        if module and module not in found:
            found.add(module)
            waiting += [*graph.get(module, ()), module.rpartition(".")[0]]
    return found


def cycles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """The groups of modules that import each other in a circle."""
    reach = {module: _followed(graph, module) for module in graph}
    circles = {
        tuple(sorted(other for other in reach[module] if module in reach.get(other, ())))
        for module in graph
        if module in reach[module]
    }
    return sorted(map(list, circles))


def _followed(graph: Mapping[str, set[str]], start: str) -> set[str]:
    """What a module imports, however indirectly; itself if that leads in a circle."""
    waiting, found = list(graph.get(start, ())), set()
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += graph.get(module, ())
    return found
