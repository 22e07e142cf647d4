"""JSON responses with one encoder for all of them."""

import json
from typing import Any

from fastapi.responses import JSONResponse

WRITTEN = "backslashreplace"  # JSON's own form of half a surrogate pair, which is no Unicode
ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


class FastJSONResponse(JSONResponse):
    """A response with the framework's own form of JSON, without a new encoder for each."""

    def render(self, content: Any) -> bytes:
        """The body as bytes."""
        return ENCODER.encode(content).encode(errors=WRITTEN)
