"""The command line. Heavy modules are imported by the commands that need them, not by --help."""

import click

from belated import __version__
from belated.cli.bench import bench
from belated.cli.compare import compare, scenarios
from belated.cli.journal import export, migrate, verify
from belated.cli.keys import keys
from belated.cli.learners import learners, warmup
from belated.cli.problems import problems
from belated.cli.replay import replay
from belated.cli.serve import serve
from belated.cli.stress import stress
from belated.cli.sweep import sweep


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="belated")
def main() -> None:
    """Learn which choice is best when feedback comes late, and later for some than for others."""


for command in (
    bench, compare, export, keys, learners, migrate, problems, replay, scenarios, serve, stress,
    sweep, verify, warmup,
):  # fmt: skip
    main.add_command(command)
