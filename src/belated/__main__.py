"""`python -m belated` is the command line."""

from belated.cli import main

main(prog_name="belated")
