"""The log of the service as lines of JSON."""

import json
import logging
from typing import Any


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
