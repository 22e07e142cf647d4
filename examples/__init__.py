"""Examples that run from a clone, each with `python -m examples.NAME`; not part of the package."""
