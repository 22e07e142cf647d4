"""The house rules that can be counted: imports go one way, and the project stands alone."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "belated"
ORDER = [
    "lazy", "types", "arrays", "specs", "checks", "table_files", "client", "ftrl", "compiled",
    "numerics", "solvers", "learners", "environments", "play", "analysis", "comparison", "replay",
    "sweep", "stress", "report", "asktell", "service", "cli", "__main__",
]  # fmt: skip
NOT_NUMBA = [
    "lazy", "types", "arrays", "specs", "checks", "table_files", "client", "ftrl", "environments",
    "cli",
]  # fmt: skip


def imports(path: Path) -> set[str]:
    """The parts of the package that a file imports when it is imported itself."""
    tree = ast.parse(path.read_text())
    found = set()
    for node in tree.body:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        found |= {name for name in names if name.startswith(("belated.", "numba"))}
    return found


def test_imports_go_one_way() -> None:
    """A file imports only from the parts above its own."""
    for path in SOURCE.rglob("*.py"):
        part = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if part == "__init__":
            continue
        for name in imports(path):
            if name.startswith("belated."):
                above = name.split(".")[1]
                assert ORDER.index(above) <= ORDER.index(part), f"{path.name} imports {name}"


def test_readable_parts_do_not_need_numba() -> None:
    """What users read and what start-up imports stays free of the compiler."""
    for path in SOURCE.rglob("*.py"):
        part = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if part in NOT_NUMBA:
            heavy = {
                "numba",
                "belated.compiled",
                "belated.numerics",
                "belated.solvers",
                "belated.learners",
            }
            for name in imports(path):
                assert not any(name.startswith(word) for word in heavy), f"{path.name}: {name}"


def test_the_project_stands_alone() -> None:
    """No file of the project refers to a folder outside it or to a machine's own paths."""
    outside = ("../" + "shared", "/ro" + "ot/", "/wo" + "rk/")
    folders = ["src", "tests", "docs", "examples", ".ci"]
    files = [*ROOT.glob("*.*"), *(path for name in folders for path in (ROOT / name).rglob("*"))]
    for path in files:
        if path.suffix in (".py", ".md", ".toml", ".json", "") and path.is_file():
            text = path.read_text(encoding="utf-8", errors="ignore")
            assert not any(word in text for word in outside), path
