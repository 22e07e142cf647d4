"""A planted fault: one line of the source that is changed, and the test that must notice it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """One line of one file, what it is changed into, and the test that must notice.

    Without a test it is the worked cases that must.
    """

    name: str
    file: str
    right: str
    wrong: str
    noticed_by: str = ""
