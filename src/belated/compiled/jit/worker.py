"""A process that compiles one entry and keeps its code: `python -m belated.compiled.jit.worker`.

The entry is read from the standard input.
"""

import os
import pickle
import sys


def main() -> None:
    """Compile the entry on the standard input, unless another process has done so."""
    os.nice(5)  # whoever waits for a decision comes first
    entry = pickle.load(sys.stdin.buffer)
    from belated.compiled.entries import compile_here

    compile_here(entry)


if __name__ == "__main__":
    main()
