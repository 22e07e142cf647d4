"""Code that compiles, caches and calls kernels. You need not read it to write a learner.

- `jit`: the decorators that compile a kernel, and where the compiled code is kept.
- `dispatch`: the verbs as functions that compiled code resolves by the class of the state.
- `records`: records of arrays that are passed to compiled code as one address.
- `unowned`: records of arrays for which compiled code counts no references.
- `stacking`: many states in one record, and a view of one of them.
- `ask_tell`: the compiled steps behind `ask` and `tell`.
"""
