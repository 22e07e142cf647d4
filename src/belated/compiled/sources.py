"""Which sources compiled code is made from, and their hash, by which kept code is found again.

A kernel sees only what its module defines or imports, so the sources of a step are the modules of
its kernels and everything of this package that they import, however indirectly. An edit of one
learner thus changes the hash of that learner's code only. The code of a plugin's learner depends
on all sources of the plugin's package, and of this one (see `plugin_sources`).
"""

import functools
import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

from belated import plugins
from belated.compiled.plugin_sources import package_hash

ROOT = Path(__file__).parents[1]
PACKAGE = "belated"
COMPILER = tuple(f"{PACKAGE}.compiled.jit.{name}" for name in ("compiler", "intrinsics", "lanes"))
KERNELS = f"from {PACKAGE}.compiled.kernels import "
IMPORT = re.compile(r"\nfrom (belated[\w.]*) import (\([^)]*\)|[^(\n]*)")
WORD = re.compile(r"\w+")


@functools.cache
def source_hash() -> str:
    """A short hash of all sources that compiled code is made from: of this package and plugins."""
    return _with_packages(_own_hash(_kernel_modules()), plugins.packages())


@functools.cache
def hash_of(modules: frozenset[str]) -> str:
    """A short hash of these modules of the package and of all that they import from it.

    If modules of plugins are among them, it is of all sources of the plugins' packages, too.
    """
    packages = {module.partition(".")[0] for module in modules} - {PACKAGE}
    if not packages:
        return _own_hash(modules)
    own = {module for module in modules if module.partition(".")[0] == PACKAGE}
    return _with_packages(_own_hash(_kernel_modules() | own), packages)


def _with_packages(own: str, packages: Iterable[str]) -> str:
    """The hash of this package's sources, made one with those of other packages, if any."""
    others = [f"{package} {package_hash(package)}" for package in sorted(packages)]
    return hashlib.sha256(" ".join([own, *others]).encode()).hexdigest()[:16] if others else own


@functools.cache
def _kernel_modules() -> frozenset[str]:
    """Return the modules of this package that have kernels."""
    return frozenset(module for module in _paths() if KERNELS in _text(module))


def _own_hash(modules: frozenset[str]) -> str:
    digest = hashlib.sha256()
    for module in sorted(closure((*modules, *COMPILER))):
        digest.update(module.encode())
        digest.update(_text(module).encode())
    return digest.hexdigest()[:16]


def closure(modules: Iterable[str]) -> set[str]:
    """Return these modules and every module of the package that they import, also indirectly."""
    found = set(modules)
    waiting = list(found)
    while waiting:
        for each in _imported(waiting.pop()):
            if each not in found:
                found.add(each)
                waiting.append(each)
    return found


@functools.cache
def _imported(module: str) -> tuple[str, ...]:
    """Return the modules of the package that a module imports at its top level."""
    names: list[str] = []
    for source, words in IMPORT.findall(f"\n{_text(module)}"):
        names += (source, *(f"{source}.{word}" for word in WORD.findall(words)))
    return tuple(name for name in names if _file(name) is not None)


@functools.cache
def _text(module: str) -> str:
    path = _file(module)
    assert path is not None, module
    return path.read_text(encoding="utf-8")


@functools.cache
def _file(module: str) -> Path | None:
    """Return the file of a module of this package, or None if there is no such module."""
    parts = module.split(".")[1:]
    for path in (ROOT.joinpath(*parts).with_suffix(".py"), ROOT.joinpath(*parts, "__init__.py")):
        if path.is_file() and (parts or path.name == "__init__.py"):
            return path
    return None


def _paths() -> list[str]:
    """Return the names of all modules of the package."""
    names = []
    for path in ROOT.rglob("*.py"):
        parts = (PACKAGE, *path.relative_to(ROOT).with_suffix("").parts)
        names.append(".".join(parts).removesuffix(".__init__"))
    return names
