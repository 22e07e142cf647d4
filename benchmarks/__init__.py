"""Benchmarks, run from a clone with `python -m benchmarks`; not part of the installed package.

Every measure compares two things in one process, in turns, and reports the ratio of their times.

- `__main__`: the command. `bench`: all measures taken one after the other.
- `catalogue`: the measures with their numbers and goals. `measures/`: the code of each.
- `measure`, `timing`: results and goals; contestants that take turns.
- `workload`: the game that the measures share. `asks/`: apps and clients for the service.
- `load/`: the service in its own processes, clients on plain sockets, and the measures with these.
- `peers/`: other software that is measured beside ours, used if it is installed.
- `machine`, `formatting`, `figure`: the machine, results as text, and the figure.
"""

import os

os.environ.setdefault("BELATED_COMPILE", "wait")  # what is measured is compiled first
