"""Compiling kernels by numba; nothing here is imported before something is compiled or loaded.

- `world`: the numba form of every kernel
- `intrinsics`, `lanes`: what compiled code does in its own way
- `compiler`: an entry compiled, and its code loaded again
"""
