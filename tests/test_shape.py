"""The rules of the house that can be counted: layers, cycles, names, orphans, folders, words.

Each test lists all violations in one message. CONTRIBUTING.md explains the rules.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from belated.environments.scenarios import MODULES as SCENARIO_MODULES
from belated.learners.registry import COPYING, registered
from tests.import_graph import (
    ROOT,
    SOURCE,
    Import,
    cycles,
    imports_of,
    modules,
    neighbours,
    package_imports,
    reached,
    tree_of,
)

# Lower layers first: a module imports only from its own layer and from those before it. A name
# with a dot is one module of a package that has a layer of its own.
LAYERS = {
    "belated": [
        "lazy", "types", "plugins", "arrays", "specs", "checks", "features", "table_files",
        "interrupts", "client", "ftrl",
        "compiled", "numerics", "compiled.jit", "compiled.entries", "compiled.worker",
        "compiled.background", "compiled.preparing", "compiled.lean_steps", "compiled.ask_tell",
        "solvers", "learners", "environments", "play", "analysis",
        "comparison", "worlds", "replay", "sweep", "stress", "report", "asktell", "testing",
        "evaluation", "adapters", "service", "cli",
        "__main__",
    ],
    "belated.learners": [
        "states", "slots", "branches", "following", "delay_law", "contract", "needs", "new_arms",
        "whole_rounds", "driver", "uniform",
        "paper", "advice", "practical", "contextual", "adversarial", "tsallis", "stochastic",
        "experts", "optimistic", "wrappers.copies", "registry", "wrappers",
    ],
    "belated.asktell": [
        "options", "runners", "ticket_rules", "learner_options", "ticket_book", "held_rounds",
        "session_state", "shares", "saving", "forks", "session", "advised", "contexts", "experts",
        "bandits",
        "loading",
    ],
    "belated.service": [
        "store", "tickets", "contexts", "outcomes", "statistics", "core", "upkeep", "admin", "web",
        "run",
    ],
    "belated.service.statistics": [
        "moments", "weights_over_time", "sums_over_time", "delays", "calibration", "arm_values",
        "weight_moves",
    ],
    "belated.service.web": [
        "auth", "backlog", "forgery", "metrics", "models", "monitoring_models", "views",
        "error_responses", "request_bodies", "json_response", "fast_routes", "bridge",
        "problem_metrics", "tracing",
        "auth_middleware", "readiness", "request_log", "dependencies", "dashboard", "keys",
        "decisions", "monitoring", "problems", "insight", "compat",
    ],
}  # fmt: skip

ADAPTERS = ("gymnasium", "mabwiser", "obp", "optuna", "poold", "river")
# What users start or import by name; every other module must be needed by one of these.
ENTRIES = [
    "belated", "belated.__main__", "belated.client", "belated.ftrl", "belated.compiled.worker",
    "belated.testing", "belated.testing.digests",
    *(f"belated.adapters.{each}" for each in ADAPTERS),
]  # fmt: skip
# Neither these packages nor anything that they import at once may import numba: it takes a second.
LIGHT = ("__main__", "cli", "client", "environments", "ftrl")
OUTSIDE = (
    "benchmarks",
    "examples",
    "studies",
    "website",
    "wheels",
    "tests",
)  # folders that are not installed
WIRE_FORMS = {"Problem"}  # classes of one name on purpose: one is what travels of the other
MOST_FILES = 24  # in one folder
ECHO = re.compile(r"(The same\b|As `)")  # a docstring that makes no sense without another one
MODULES = modules()


def none(violations: Iterable[object]) -> None:
    """Fail with all violations, a line each."""
    found = sorted(set(map(str, violations)))
    assert not found, f"{len(found)} of them:\n" + "\n".join(found)


# -- imports


def layer_of(module: str, package: str) -> int | None:
    """The layer of a module of a package, or None for the package itself."""
    layers, parts = LAYERS[package], module.removeprefix(f"{package}.").split(".")
    names = [".".join(parts[:size]) for size in range(len(parts), 0, -1)]
    return next((layers.index(name) for name in names if name in layers), None)


def upward(package: str) -> Iterator[Import]:
    """The imports of a package from a layer above."""
    inside = f"{package}."
    for each in package_imports():
        if each.importer.startswith(inside) and each.imported.startswith(inside):
            above, own = layer_of(each.imported, package), layer_of(each.importer, package)
            if above is not None and own is not None and above > own:
                yield each


def test_every_layer_imports_from_those_below() -> None:
    """Also inside functions; within packages as declared."""
    none(each for package in LAYERS for each in upward(package))


def test_every_module_has_its_layer() -> None:
    """In a package with layers; and every layer is there."""
    for package, layers in LAYERS.items():
        inside = [module for module in MODULES if module.startswith(f"{package}.")]
        none(module for module in inside if layer_of(module, package) is None)
        none(name for name in layers if f"{package}.{name}" not in MODULES)


def test_no_modules_import_each_other_in_a_circle() -> None:
    """A circle that an import inside a function has hidden is one, too."""
    none(" <-> ".join(circle) for circle in cycles(neighbours(package_imports())))


def test_what_starts_fast_does_not_import_numba() -> None:
    """`import belated`, every `--help`, the client, the environments and the paper's framework."""
    eager = neighbours(each for each in package_imports() if not each.lazy)
    light = [module for module in MODULES if module == "belated" or module.split(".")[1] in LIGHT]
    none(module for module in light if "numba" in reached(eager, [module]))


def test_the_package_imports_nothing_from_the_folders_around_it() -> None:
    """Benchmarks, studies, examples and tests are not installed."""
    none(each for each in package_imports() if each.imported in OUTSIDE)


def test_no_module_is_an_orphan() -> None:
    """Each is needed by an entry point, a command, a learner, a scenario, or a folder outside."""
    graph = neighbours(package_imports())
    for module, path in MODULES.items():  # modules that are imported by name when they are needed
        named = {node.value for node in ast.walk(tree_of(path)) if isinstance(node, ast.Constant)}
        graph.setdefault(module, set()).update(name for name in named if name in MODULES)
    starts = [*ENTRIES, *(kind.__module__ for kind in registered().values())]
    starts += [f"belated.learners.{module}" for module, _ in COPYING.values()]
    starts += [f"belated.environments.{name}" for name in SCENARIO_MODULES]
    starts += [module for module in MODULES if module.startswith("belated.cli.")]
    outside = [path for name in OUTSIDE[:-1] for path in (ROOT / name).rglob("*.py")]
    starts += [each.imported for path in outside for each in imports_of("", path, MODULES)]
    none(MODULES.keys() - reached(graph, starts))


# -- names and words


class Definition(NamedTuple):
    """A module, a class or a function, and where it is."""

    module: str
    node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def definitions(folders: Iterable[Path] = (SOURCE,)) -> Iterator[Definition]:
    """All modules, classes and functions below some folders."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for folder in folders:
        for module, path in modules(folder).items():
            for node in ast.walk(tree_of(path)):
                if isinstance(node, kinds):
                    yield Definition(module, node)


def test_no_two_classes_have_one_name() -> None:
    """Unless one is the form in which the other travels."""
    homes: dict[str, set[str]] = {}
    for module, node in definitions():
        if isinstance(node, ast.ClassDef):
            homes.setdefault(node.name, set()).add(module)
    none(
        f"{name}: {', '.join(sorted(places))}"
        for name, places in homes.items()
        if len(places) > 1 and name not in WIRE_FORMS
    )


def test_every_docstring_makes_sense_alone() -> None:
    """None begins by pointing at another one: an editor shows one at a time."""
    folders = [SOURCE, *(ROOT / name for name in OUTSIDE[:-1])]
    texts = [(each, ast.get_docstring(each.node) or "") for each in definitions(folders)]
    none(
        f"{each.module} {getattr(each.node, 'name', '')}: {text.splitlines()[0]}"
        for each, text in texts
        if ECHO.match(text)
    )


def test_every_package_lists_its_modules() -> None:
    """The `__init__` of a package is its map: it names every module of the package."""
    maps = {path.parent: path.read_text() for path in MODULES.values() if path.stem == "__init__"}
    none(
        module
        for module, path in MODULES.items()
        for package in [path.parent.parent if path.stem == "__init__" else path.parent]
        if package in maps and package.name != "belated"
        if not re.search(rf"\b{module.split('.')[-1]}\b", maps[package])
    )


def test_no_folder_is_crowded() -> None:
    """So that one look takes it in."""
    folders = {path.parent for name in ("src", *OUTSIDE) for path in (ROOT / name).rglob("*.py")}
    sizes = {folder: len(list(folder.glob("*.py"))) for folder in folders}
    none(
        f"{folder.relative_to(ROOT)} has {size} Python files"
        for folder, size in sizes.items()
        if size > MOST_FILES
    )


def test_the_project_stands_alone() -> None:
    """No file of the project refers to a folder outside it or to a machine's own paths."""
    outside = ("../" + "shared", "/ro" + "ot/", "/wo" + "rk/")
    folders = ["src", "docs", ".ci", *OUTSIDE]
    files = [*ROOT.glob("[!.]*"), *(path for name in folders for path in (ROOT / name).rglob("*"))]
    none(
        path.relative_to(ROOT)
        for path in files
        if path.suffix in (".py", ".md", ".toml", ".json", "") and path.is_file()
        if any(word in path.read_text(encoding="utf-8", errors="ignore") for word in outside)
    )
