"""The request, and apps with an empty route; this module imports nothing of the service."""

from typing import Any

from fastapi import FastAPI
from fastapi.responses import JSONResponse
from starlette.applications import Starlette
from starlette.routing import Route

PROBLEM = "bench"
PATH = f"/v1/problems/{PROBLEM}/ask"
LOOPBACK = "127.0.0.1"
KEY = "belated_benchmark"
HEADERS = {"Host": LOOPBACK, "Authorization": f"Bearer {KEY}", "Content-Length": "0"}


def empty_fastapi() -> FastAPI:
    """Make a FastAPI app with one route that does nothing."""
    app = FastAPI()

    @app.post("/v1/problems/{name}/ask")
    async def nothing(name: str) -> dict[str, str]:
        return {}

    return app


def empty_starlette() -> Starlette:
    """Make a Starlette app with one route that does nothing; it parses and checks no body."""

    async def nothing(request: Any) -> JSONResponse:
        return JSONResponse({})

    return Starlette(routes=[Route("/v1/problems/{name}/ask", nothing, methods=["POST"])])
