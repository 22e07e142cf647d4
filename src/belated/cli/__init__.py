"""The command line `belated`: one group whose commands are imported only when they are used.

This keeps `belated --help` fast. Within a command, heavy modules such as numba are imported only
when its work begins. The modules and their commands:

- `compare`: compare learners on scenarios or data files, and list the scenarios
- `worlds`: list the families of random worlds, and play learners on them for `compare --worlds`
- `games`: write one game of a scenario to a file (`game`)
- `sweep`: compare learners for all combinations of options
- `stress`: search losses and delays that are hard for a learner
- `replay`: replay a log of losses and delays
- `evaluate`: what other policies would have earned, from a log with late outcomes
- `learners`: list the learners, and compile them in advance (`warmup`)
- `serve`, `problems`, `keys`: run the decision service, and manage its problems and keys
- `report`: what a problem's learner has earned more than the control of its holdout
- `store_tools`: export, migrate, retain, forget and verify the service's database
- `comparison_files`: the files that `compare` writes
- `play_all`: play several games with progress, and keep what is complete on Ctrl-C
- `feature_options`: the option that declares what a context has
- `service_options`, `console`: options, error messages, tables and progress that commands share
"""

import importlib
import warnings
from typing import Any

import click

from belated import __version__
from belated.types import BelatedWarning

COMMANDS = {  # the module that defines each command, and what `belated --help` says of it
    "compare": ("compare", "Play learners on the same games, and compare their regret."),
    "evaluate": ("evaluate", "Estimate what another policy would have earned."),
    "export": ("store_tools", "Write the journal of a problem to a file."),
    "forget": ("store_tools", "Blank personal data in recorded decisions."),
    "game": ("games", "Write one game of a scenario to a file."),
    "keys": ("keys", "Create, list and revoke API keys of the service."),
    "learners": ("learners", "List the learners and their guarantees."),
    "migrate": ("store_tools", "Upgrade a database to the newest schema."),
    "problems": ("problems", "Manage the problems of the service."),
    "replay": ("replay", "Run a learner along a log or a recorded game."),
    "report": ("report", "Compare what a learner and its control earn."),
    "retain": ("store_tools", "Delete old rows of the journal, and keep the state."),
    "scenarios": ("compare", "List the scenarios that learners can play."),
    "serve": ("serve", "Run the decision service."),
    "stress": ("stress", "Search for the games in which a learner does worst."),
    "sweep": ("sweep", "Run learners with all combinations of options."),
    "verify": ("store_tools", "Check a database against its journal."),
    "warmup": ("learners", "Compile learners ahead of their first use."),
    "worlds": ("worlds", "List the families of random worlds."),
}


class Commands(click.Group):
    """A group that lists all commands by name but imports a command's module only on use."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what it warns of is a line on standard error."""
        with warnings.catch_warnings():
            shown = warnings.showwarning

            def show(message: Any, category: type[Warning], *place: Any, **more: Any) -> None:
                if issubclass(category, BelatedWarning):
                    click.echo(f"belated: {message}", err=True)
                else:
                    shown(message, category, *place, **more)

            warnings.showwarning = show
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands in alphabetical order."""
        return sorted(COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command to run.

        For an unknown name all commands are imported first, so that click can suggest similar ones.
        """
        if args[0] not in COMMANDS:
            for name in COMMANDS:
                self.add_command(self.load(name))
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command with this name, or None if there is none."""
        return self.load(cmd_name) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List all commands with a short sentence each; none of them is imported."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])

    def load(self, name: str) -> click.Command:
        """Import the module of a command and return the command."""
        module = importlib.import_module(f"{__name__}.{COMMANDS[name][0]}")
        command: click.Command = getattr(module, name)
        return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="belated")
def main() -> None:
    """Learn which choice is best when feedback comes late, and later for some than for others."""
