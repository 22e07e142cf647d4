"""The command line `belated`: one group whose commands are imported only when they are used.

This keeps `belated --help` fast. Within a command, heavy modules such as numba are imported only
when its work begins. The modules and their commands:

- `compare`: compare learners on scenarios or data files, and list the scenarios
- `worlds`: list the families of random worlds, and play learners on them for `compare --worlds`
- `sweep`: compare learners for all combinations of options
- `stress`: search losses and delays that are hard for a learner
- `replay`: replay a log of losses and delays
- `evaluate`: what other policies would have earned, from a log with late outcomes
- `learners`: list the learners, and compile them in advance (`warmup`)
- `serve`, `problems`, `keys`: run the decision service, and manage its problems and keys
- `store_tools`: export, migrate, retain, forget and verify the service's database
- `comparison_files`: the files that `compare` writes
- `play_all`: play several games with progress, and keep what is complete on Ctrl-C
- `service_options`, `console`: options, error messages, tables and progress that commands share
"""

import importlib

import click

from belated import __version__

MODULES = {  # the module that defines each command
    "compare": "compare",
    "evaluate": "evaluate",
    "export": "store_tools",
    "forget": "store_tools",
    "keys": "keys",
    "learners": "learners",
    "migrate": "store_tools",
    "problems": "problems",
    "replay": "replay",
    "retain": "store_tools",
    "scenarios": "compare",
    "serve": "serve",
    "stress": "stress",
    "sweep": "sweep",
    "verify": "store_tools",
    "warmup": "learners",
    "worlds": "worlds",
}


class Commands(click.Group):
    """A group that lists all commands by name but imports a command's module only on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands in alphabetical order."""
        return sorted(MODULES)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command to run.

        For an unknown name all commands are imported first, so that click can suggest similar ones.
        """
        if args[0] not in MODULES:
            for name in MODULES:
                self.add_command(self.load(name))
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command with this name, or None if there is none."""
        return self.load(cmd_name) if cmd_name in MODULES else None

    def load(self, name: str) -> click.Command:
        """Import the module of a command and return the command."""
        module = importlib.import_module(f"{__name__}.{MODULES[name]}")
        command: click.Command = getattr(module, name)
        return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="belated")
def main() -> None:
    """Learn which choice is best when feedback comes late, and later for some than for others."""
