"""How kernels are compiled, cached and called. You need not read this to write a learner.

- `jit`: the decorators that compile a kernel, and where the compiled code is kept.
- `dispatch`: the verbs as functions that compiled code resolves by the class of the state.
- `records`: handing a record of arrays to compiled code by one address.
- `unowned`: records whose arrays compiled code need not count references of.
- `stacking`: many states in one record, and a view of one of them.
- `ask_tell`: what `ask` and `tell` do, each in one compiled call.
"""
