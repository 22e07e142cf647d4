"""What is asked, and apps that answer nothing: they load nothing of the service."""

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
    """An app of the same framework with one route that does nothing."""
    app = FastAPI()

    @app.post("/v1/problems/{name}/ask")
    async def nothing(name: str) -> dict[str, str]:
        return {}

    return app


def empty_starlette() -> Starlette:
    """The same of the framework below it, which reads and checks nothing."""

    async def nothing(request: Any) -> JSONResponse:
        return JSONResponse({})

    return Starlette(routes=[Route("/v1/problems/{name}/ask", nothing, methods=["POST"])])
