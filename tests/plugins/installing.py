"""Packages with plugins that are found by a path, as pip would have installed them."""

import shutil
import tomllib
from collections.abc import Mapping
from pathlib import Path

from belated import plugins
from belated.compiled import plugin_sources, sources
from belated.environments import scenarios
from belated.learners import registry

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "plugin"

CACHES = (
    plugins.found_in, plugins.packages, plugin_sources.stands_alone, plugin_sources.package_hash,
    registry.registered, registry.plugged, registry.copies_named,
    scenarios._registered, scenarios._plugged, sources.source_hash, sources.hash_of,
)  # fmt: skip


def look_again() -> None:
    """Forget which plugins there are, as a new process would."""
    for cached in CACHES:
        cached.cache_clear()


def describe(
    folder: Path, name: str, groups: Mapping[str, Mapping[str, str]], version: str = "1.0"
) -> None:
    """Write what pip writes about a package: its name, version and entry points."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [
        line
        for group, entries in groups.items()
        for line in (f"[{group}]", *(f"{key} = {value}" for key, value in entries.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")


def install_example(folder: Path) -> Path:
    """Put the example project into a folder, which then need only be on the path."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    describe(folder, project["name"], project["entry-points"], project["version"])
    shutil.copytree(EXAMPLE / "src", folder, dirs_exist_ok=True)
    return folder
