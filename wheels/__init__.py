"""The wheel with compiled learners: numba and LLVM at build time, neither of them at run time.

- `entries`: which steps are compiled, and for which kinds of records.
- `shapes`: how a step looks to C, by its shape ("ask", "tell", "play" ...).
- `objects`: one step, compiled by numba, as an object file for any x86-64-v3 machine.
- `building`: all objects in parallel, linked with the C module `native.c` to a shared object.
- `hook`: the hook by which hatchling puts the shared object into the wheel.

`python -m wheels OUT` builds the shared object; `make wheel` builds the wheel.
"""
