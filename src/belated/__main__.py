"""Run the command line with `python -m belated`."""

from belated.cli import main

main(prog_name="belated")
