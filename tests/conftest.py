"""In CI a skipped test is a failure: every optional part must be there and must run."""

import os
import signal
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest.register_assert_rewrite("tests.asktell.session_kinds", "tests.cli.commands", "tests.games")
TESTS = Path(__file__).parent
FOLDERS = ("laws", "learners", "simulation", "theory", "mutants", "oracle", "kernels")
ORDER = {folder: place for place, folder in enumerate(FOLDERS)}
os.environ["BELATED_QUIET"] = "1"  # the line about compiling is not what these tests look for
settings.register_profile(  # no test depends on how fast a machine is
    "at any speed", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("at any speed")


def pytest_configure() -> None:
    """Let Ctrl-C through: a shell starts background jobs deaf to it, and tests send real ones."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put first what compiles every learner, then what compiles nothing, and the rest last.

    Of two workers one begins at the first test, the other in the middle; so they hardly ever
    compile the same, and later find in the cache what the other has compiled.
    """
    items.sort(key=lambda item: ORDER.get(item.path.relative_to(TESTS).parts[0], len(ORDER)))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the session if anything was skipped where nothing may be."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") and reporter is not None and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
