"""Whoever does not use the service does not load its libraries."""

import subprocess
import sys

import pytest

HEAVY = "{'fastapi', 'prometheus_client', 'psycopg', 'sqlalchemy', 'uvicorn'}"


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        ("import belated, belated.cli", HEAVY),
        ("from belated.service.store import open_store; open_store('memory:')", "{'psycopg'}"),
        (
            "from belated.learners.registry import learner_named; learner_named('concealed')",
            "{'belated.learners.tsallis.masoudian', 'belated.learners.stochastic.thompson'}",
        ),
    ],
)
def test_libraries_are_loaded_when_needed(code: str, heavy: str) -> None:
    """Importing belated loads no database, SQLite no driver of PostgreSQL's, a learner no other."""
    check = f"{code}; import sys; print(*({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
