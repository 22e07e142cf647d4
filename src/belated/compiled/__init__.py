"""How the steps of learners are compiled, kept and called; not needed to write a learner.

Kernels are plain Python functions. A step is a whole `ask`, `tell` or stretch of rounds with all
kernels in it; it runs interpreted until its compiled form, an entry, is there.

- `kernels`: the decorators that mark a kernel, and when learners are compiled.
- `steps`: what a step is called with.
- `dispatch`: the verbs as functions that are resolved by the class of the state.
- `records`: records of arrays that are passed to a step as one address.
- `stacking`: many states in one record, and a view of one of them.
- `ask_tell`: the steps behind `ask` and `tell`, and the runner that calls them.
- `row_steps`: steps for rows of plays whose width depends on the learner's options.
- `lean`, `lean_steps`: steps without what is seldom needed, which are compiled first.
- `entries`: compiled steps, from wherever they can be had soonest.
- `native`: compiled steps of the installed wheel.
- `sources`, `plugin_sources`, `code_files`: what code depends on, and where it is kept.
- `background`, `preparing`: other processes that compile, unnoticed or waited for; `worker` is one.
- `jit`: the compiler itself, which is imported only when it is needed.
"""
