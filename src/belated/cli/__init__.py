"""The command line. A command is imported when it is used, and heavy modules by its work only."""

import importlib

import click

from belated import __version__

HOMES = {
    "compare": "compare",
    "export": "store_tools",
    "keys": "keys",
    "learners": "learners",
    "migrate": "store_tools",
    "problems": "problems",
    "replay": "replay",
    "scenarios": "compare",
    "serve": "serve",
    "stress": "stress",
    "sweep": "sweep",
    "verify": "store_tools",
    "warmup": "learners",
}


class Commands(click.Group):
    """The commands by name, each found in its module."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order of the alphabet."""
        return sorted(HOMES)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is meant; of a wrong name click looks for others that are like it."""
        if args[0] not in HOMES:
            for name in HOMES:
                self.add_command(self.found(name))
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name."""
        return self.found(cmd_name) if cmd_name in HOMES else None

    def found(self, name: str) -> click.Command:
        """The command in its module."""
        home = importlib.import_module(f"{__name__}.{HOMES[name]}")
        command: click.Command = getattr(home, name)
        return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="belated")
def main() -> None:
    """Learn which choice is best when feedback comes late, and later for some than for others."""
