"""Bandit learners with the Tsallis entropy as regularizer, plus the negative entropy for delays.

- `hybrid_regularizer`: the state and the verbs that the family shares.
- `tsallis_inf`: "tsallis-inf", without the negative entropy, optimal without delays.
- `zimmert_seldin`: "zimmert-seldin", whose entropy rate adapts to the outstanding plays.
- `zimmert_seldin_skipping`: "zimmert-seldin-skipping", which stops counting very late plays.
- `banker_tinf`: "banker-tinf", mirror descent that pays each play from those whose losses came.
- `masoudian`: "masoudian", which must know the longest delay and adapts to stochastic losses.
"""
