"""The log of the service as lines of JSON, of all that a process has to say."""

import json
import logging
import sys
import threading
from types import TracebackType
from typing import Any

log = logging.getLogger(__name__)


class JsonLogFormatter(logging.Formatter):
    """Formats each entry of the log as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {
            "at": round(record.created, 3),
            "level": record.levelname.lower(),
            "from": record.name,
            "event": record.getMessage(),
            **getattr(record, "structured", {}),
        }
        if record.exc_info:
            entry["fault"] = self.formatException(record.exc_info)
        return json.dumps(entry)


def log_as_json(level: str) -> None:
    """Write the log to standard error as JSON, warnings and uncaught errors as well."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLogFormatter())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.captureWarnings(True)

    def uncaught(
        kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> None:
        log.critical("an error that nothing expected", exc_info=(kind, error, traceback))

    def uncaught_in_thread(found: threading.ExceptHookArgs) -> None:
        if found.exc_value is not None:
            uncaught(found.exc_type, found.exc_value, found.exc_traceback)

    sys.excepthook, threading.excepthook = uncaught, uncaught_in_thread
