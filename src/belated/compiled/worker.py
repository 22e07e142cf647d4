"""A process that compiles one entry and keeps its code: `python -m belated.compiled.worker`.

The entry is read from the standard input.
"""

import os
import pickle
import sys

from belated.compiled.entries import compile_here


def main() -> None:
    """Compile the entry on the standard input, unless another process has done so."""
    os.nice(5)  # whoever waits for a decision comes first
    compile_here(pickle.load(sys.stdin.buffer))


if __name__ == "__main__":
    main()
