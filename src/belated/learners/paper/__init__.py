"""The paper's three learners, one for each of its settings, and the code that only they use.

- `full_information`: "full-information", experts whose losses come late (th:fullinfobound).
- `full_information_certificate`: the bound that a run of it proves about its own regret.
- `partially_concealed`: "partially-concealed", a bandit that is told missing counts
  (th:banditbound).
- `concealed`: "concealed", a bandit that is told nothing but losses (th:concealed).
- `skipping`: which outstanding plays "concealed" with `skipping` no longer waits for.
- `many_arms`: faster rounds of "concealed" with hundreds of arms, most of them never played.
"""
