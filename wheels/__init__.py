"""The wheel with native learners: numba and LLVM at build time, neither of them at run time.

- `shapes`: how a step looks to C, by its shape ("ask", "tell", "play" ...).
- `objects`: one entry, compiled by numba, as an object file for any machine of the baseline.
- `building`: all objects, made in parallel, and linked with the C module to a shared object.
- `native.c`, `native.h`: that C module; `helpers.c`: what numba's code expects in its process.
- `hook`: the hook by which hatchling puts the shared object into the wheel.

`python -m wheels OUT` builds the shared object; `make wheel` builds the wheel.
"""
