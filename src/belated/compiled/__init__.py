"""How kernels are compiled, cached and called. You need not read this to write a learner."""
