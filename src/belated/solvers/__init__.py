"""Compiled solvers for the argmin of eq:frameworkprediction with the paper's regularizers.

Each setting has two solvers. The fast one corrects the solution of an earlier round, and reports 0
passes over the arms if that is too far away. The safe one converges from any starting point, also
without a guess, and is the fallback. Both find the multiplier c of the constraint sum q = 1.

- `full_information`, `full_information_safe`: eq:fullinforeg, over a grid of rates
- `partially_concealed`, `partially_concealed_safe`: eq:banditreg1 and eq:banditreg2
- `concealed`, `concealed_safe`: eq:regunknown1 and eq:regunknown2
- `tsallis`: eq:regunknown1 alone, at the cost of one division per arm
- `rate_columns`: storage of the cumulative losses by arm and rate, for the first two settings
- `multiplier`: Newton's method for c inside a bracket, shared by the safe solvers
"""
