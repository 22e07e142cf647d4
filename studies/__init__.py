"""The authors' own studies, run from a clone with `python -m studies`; not part of the package.

- `study`, `study_command`, `study_figures`: every learner on every scenario.
- `scenario_groups`, `ablation_figures`: the scenarios that judge the practical learners, and the
  cost of leaving out each part of these learners.
- `experiments`, `published`, `published_command`, `published_figures`: experiments that others have
  published, played again.
- `judge`, `judge_command`: all bandits on random worlds, and what each part of ours is worth.
- `expert_worlds`, `expert_command`: the practical experts where they were found weak.
- `contexts`, `contexts_command`, `vowpal`: learners with contexts and without, and Vowpal Wabbit.
- `late_logs`, `evaluation_study`, `evaluation_command`: evaluation of policies on simulated logs
  with late outcomes.
- `holdouts`: how often the uplift of a holdout excludes 0 in simulated months, looked at daily.
- `figure_files`, `study_options`: writing figures into a folder, and the options of the commands.
"""
