"""Arithmetic shared by the compiled kernels; it knows nothing about learners or delays.

Sums and exponentials have a fixed order of operations, so that a compiled result does not depend on
the machine's vector width or mathematical library.

- `lanes`: vectors of four doubles, with loads, stores, sums and an exponential of fixed rounding
- `exact_sums`: running sums that carry their rounding error along
- `plain_lanes`, `fused_multiply_add`: lanes, and a * b + c with one rounding, in plain Python
- `ordered_sums`: sums from the first number to the last
- `exponential_weights`: q proportional to exp(-eta L)
- `softmin`: q proportional to exp(-value/temperature), down to temperature 0
- `largest_chances`: the probability that each of several independent numbers is the largest
- `tie_breaking`: all weight on the largest value, shared evenly among ties
- `gauss_legendre`: nodes and weights of a quadrature
- `packed_symmetric`: symmetric matrices of which half is kept, and their inverses with one more row
- `log_gamma`: ln Gamma by the C library
- `importance_weights`: the divisor of an importance-weighted loss
- `random_stream`: the seeded random numbers from which arms are drawn
- `single_draws`: the same numbers drawn one at a time, in plain Python
"""
