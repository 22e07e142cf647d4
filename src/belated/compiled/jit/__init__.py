"""Compiling kernels by numba; nothing here is imported before something is compiled or loaded.

- `world`: the numba form of every kernel
- `parts`: how a kernel is compiled as a part of a step
- `intrinsics`, `lanes`: what compiled code does in its own way
- `compiler`: an entry compiled, and its code loaded again
"""
