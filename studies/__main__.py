"""The commands of the studies: `python -m studies --help`."""

import click

from studies.contexts_command import contexts_study
from studies.evaluation.command import evaluation_study
from studies.expert_command import experts_study
from studies.holdouts import holdout_study
from studies.judge_command import judge_study
from studies.published_command import published_study
from studies.study_command import scenarios_study


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Play the studies that the documentation quotes."""


main.add_command(scenarios_study)
main.add_command(published_study)
main.add_command(judge_study)
main.add_command(experts_study)
main.add_command(contexts_study)
main.add_command(evaluation_study)
main.add_command(holdout_study)

if __name__ == "__main__":
    main(prog_name="python -m studies")
