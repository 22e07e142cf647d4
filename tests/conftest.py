"""In CI a skipped test is a failure: every optional part must be there and must run."""

import os
import signal
import threading

import pytest

os.environ["BELATED_QUIET"] = "1"  # the line about compiling is not what these tests look for


def pytest_configure() -> None:
    """Let Ctrl-C through: a shell starts background jobs deaf to it, and tests send real ones."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the session if anything was skipped where nothing may be."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") and reporter is not None and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
