"""The authors' own studies, run from a clone with `python -m studies`; not part of the package.

- `study`, `study_command`, `study_figures`: every learner on every scenario.
- `scenario_groups`, `ablation_figures`: the scenarios that judge the practical learners, and the
  cost of leaving out each part of these learners.
- `experiments`, `published`, `published_command`, `published_figures`: experiments that others have
  published, played again.
- `late_logs`, `evaluation_study`, `evaluation_command`: evaluation of policies on simulated logs
  with late outcomes.
- `figure_files`, `study_options`: writing figures into a folder, and the options of the commands.
"""
