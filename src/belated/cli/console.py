"""Output that all commands share: errors in one line, tables and progress bars."""

import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

NOT_NUMBERS = ("", "deterministic")  # cells that a column of numbers may have


class OneLineError(click.ClickException):
    """An error for bad input: it prints one line on standard error and exits with code 2."""

    exit_code = 2

    def format_message(self) -> str:
        """The message as it is printed."""
        return printable(self.message)


@contextmanager
def one_line_errors(path: Path | None = None) -> Iterator[None]:
    """Turn errors that users can correct into one clear line, which names the file if given."""
    try:
        yield
    except OSError as error:
        reason = " ".join(str(error.strerror or error).split())
        name = path.name if path else error.filename
        raise OneLineError(f"{name} cannot be read: {reason}") from None
    except MemoryError:
        raise OneLineError("this needs more memory than there is") from None
    except (ValueError, ArithmeticError) as error:
        text = " ".join(str(error).split())
        if path is not None and path.name not in text:
            text = f"{path.name}: {text}"
        raise OneLineError(text) from None


def printable(text: str) -> str:
    """Return a text that others may have chosen, with escapes for what a terminal would obey."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def show_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int] | None = None
) -> None:
    """Print a table in the terminal; names that users chose are printed as they are.

    `widths` are the least widths of the columns, so that tables below each other line up.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console, table = Console(file=sys.stdout), Table(header_style="bold")
    if not console.is_terminal:  # nothing that is read in a file or a pipe is cut off
        console.width = 200
    elif widths is not None and sum(widths) + 4 * len(widths) > console.width:
        widths = None
    for position, name in enumerate(columns):
        cells = [row[position].replace(",", "") for row in rows]
        numbers = all(cell in NOT_NUMBERS or cell.lstrip("-")[:1].isdigit() for cell in cells)
        table.add_column(
            name,
            justify="right" if numbers else "left",
            no_wrap=position == 0,
            min_width=None if widths is None else widths[position],
        )
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    console.print(table)


@contextmanager
def progress_bar(title: str, total: int) -> Iterator[Callable[[], None]]:
    """Show a progress bar; yields a function that advances it by one."""
    with progress_of(title) as report:
        done = itertools.count(1)
        yield lambda: report(next(done), total)


@contextmanager
def progress_of(title: str) -> Iterator[Callable[[int, int | None], None]]:
    """Show a progress bar with the time left on standard error, if that is a terminal.

    Yields a function that is called with the amount of work done and the total, None if that is
    not known. The bar appears with its first call: what is compiled before has a bar of its own.
    """
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    progress = Progress(console=Console(file=sys.stderr), transient=True)
    task = progress.add_task(title, total=None)

    def report(done: int, total: int | None) -> None:
        progress.start()
        progress.update(task, completed=done, total=total)

    try:
        yield report
    finally:
        progress.stop()


def check_folder(figures: Path | None) -> None:
    """Raise an error if the folder for figures is a file, before anything is played."""
    if figures is not None and figures.exists() and not figures.is_dir():
        raise ValueError(f"{figures} is a file; figures need a folder")
