"""How the tests run: interpreted unless BELATED_COMPILED=1, and without a skip in CI.

Interpreted, a learner answers at once; compiled, it first takes the compiler some seconds. Five
marks say where a test belongs (see CONTRIBUTING.md):

- `compiled`: it needs compiled code, and is left out of an interpreted run;
- `interpreted`: it changes a constant, which compiled code keeps; left out of a compiled run;
- `core`: the compiled core, which `make test` runs compiled, too. `core("name")` says that the
  parameter `name` holds a learner: of those only `FAMILIES` are in the core;
- `long`: it takes long interpreted; `make test` leaves it to the core and `make check` to all;
- `check`: it takes long, and only `make check` runs it.
"""

import functools
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parent
COMPILED = "BELATED_COMPILED" in os.environ
os.environ["BELATED_COMPILE"] = "wait" if COMPILED else "never"  # before belated is imported
os.environ["BELATED_QUIET"] = "1"  # the line about compiling is not what these tests look for
settings.register_profile(  # no test depends on how fast a machine is
    "at any speed", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("at any speed")
# Nothing is written into the user's home, which may be empty or for reading only.
CACHE = TESTS.parent / ".cache"
os.environ.setdefault("BELATED_CACHE_DIR", str(CACHE))
os.environ.setdefault("MPLCONFIGDIR", str(CACHE / "matplotlib"))
# Folders whose tests call kernels one by one, and want them compiled in a compiled run. All others
# run learners by their steps, which are compiled as users have them.
CALLS_KERNELS = {"numerics", "solvers", "theory"}
if COMPILED:
    from belated.compiled import kernels
    from belated.compiled.jit.compiler import compiled_when_called

    def called(kernel: kernels.Kernel) -> Any:
        """Return a kernel that is compiled while a test of these folders calls it."""
        plain, compiled = kernels.interpreted(kernel), compiled_when_called(kernel)

        @functools.wraps(kernel.function)
        def run(*arguments: Any) -> Any:
            return (compiled if calls_kernels[0] else plain)(*arguments)

        return run

    kernels.called_from_python = called
calls_kernels = [True]  # also while tests are collected
# The marks of all tests of a folder.
FOLDERS = {
    "benchmarks": ["compiled"],
    "compiled": ["compiled", "core"],
    "mutants": ["check"],
    "numerics": ["compiled", "core"],
    "solvers": ["compiled"],
    "studies": ["compiled"],
}
# One learner for each family of kernels.
FAMILIES = {
    "full-information", "partially-concealed", "concealed", "practical-bandit",
    "practical-experts", "exp3", "linear",
}  # fmt: skip

pytest.register_assert_rewrite("tests.asktell.session_kinds", "tests.cli.commands", "tests.games")


def pytest_configure() -> None:
    """Let Ctrl-C through: a shell starts background jobs deaf to it, and tests send real ones."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Choose whether kernels that the test calls are compiled."""
    calls_kernels[0] = item.path.relative_to(TESTS).parts[0] in CALLS_KERNELS


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs the compiler if there is none, and settle what the core is."""
    for item in items:
        for mark in FOLDERS.get(item.path.relative_to(TESTS).parts[0], ()):
            item.add_marker(mark)
        if not in_core(item):
            item.own_markers = [mark for mark in item.own_markers if mark.name != "core"]
    other = "interpreted" if COMPILED else "compiled"
    config.hook.pytest_deselected(items=[each for each in items if each.get_closest_marker(other)])
    items[:] = [each for each in items if not each.get_closest_marker(other)]


def in_core(item: pytest.Item) -> bool:
    """Whether a test is quick, and not about a learner or about one that stands for its family."""
    if item.get_closest_marker("check"):
        return False
    mark = item.get_closest_marker("core")
    if mark is None or not mark.args:
        return True
    return str(item.callspec.params[mark.args[0]]) in FAMILIES  # type: ignore[attr-defined]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the session if anything was skipped where nothing may be."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") and reporter is not None and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
