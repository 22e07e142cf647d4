"""The sources of plugins: whether compiled code of a plugin may be kept, and their hash.

Kept code must be found again exactly as long as it is made from the same sources. So it is kept
only of packages that have learners as plugins, and that import nothing but themselves, belated,
numpy and the standard library; its name has a hash of all sources of the package.
"""

import ast
import functools
import hashlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

from belated import plugins

KNOWN = frozenset({"belated", "numpy", *sys.stdlib_module_names})


@functools.cache
def stands_alone(package: str) -> bool:
    """Whether a package has learners as plugins, and imports nothing that its hash misses."""
    if package not in plugins.packages():
        return False
    files = files_of(package)
    return bool(files) and all(
        imported in KNOWN or imported == package for file in files for imported in imported_by(file)
    )


@functools.cache
def package_hash(package: str) -> str:
    """A short hash of all Python files of a package, by name and contents."""
    digest = hashlib.sha256()
    for file in files_of(package):
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def files_of(package: str) -> list[Path]:
    """List the Python files of a package, or the file of a single module; none if it is gone."""
    spec = importlib.util.find_spec(package)
    if spec is None:
        return []
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
    if folders:
        return sorted(file for folder in folders for file in folder.rglob("*.py"))
    return [Path(spec.origin)] if spec.origin and spec.origin.endswith(".py") else []


def imported_by(file: Path) -> Iterator[str]:
    """Yield the top-level names of all that a file imports from outside its own package."""
    for node in ast.walk(ast.parse(file.read_bytes(), str(file))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module.partition(".")[0]
