"""A process that compiles entries and keeps their code: `python -m belated.compiled.worker`.

The entries are read from the standard input.
"""

import os
import pickle
import sys

from belated.compiled.entries import compile_here


def main() -> None:
    """Compile the entries on the standard input that no other process has compiled."""
    if hasattr(os, "nice"):
        os.nice(5)  # anyone who waits for a decision comes first
    for entry in pickle.load(sys.stdin.buffer):
        compile_here(entry)


if __name__ == "__main__":
    main()
