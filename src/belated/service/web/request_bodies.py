"""Bodies that are read by hand, and what the OpenAPI document is told about them."""

from collections.abc import Mapping
from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError
from pydantic.json_schema import models_json_schema

from belated.service.core.errors import Invalid
from belated.service.web.error_responses import sentence
from belated.service.web.models import AskMany, ProblemDetails, Told, ToldMany

Model = TypeVar("Model", bound=BaseModel)
REFERENCE = "#/components/schemas/{model}"


async def read(request: Request, model: type[Model]) -> Model:
    """The body of a request, checked."""
    try:
        return model.model_validate_json(await request.body())
    except ValidationError as error:
        raise Invalid(sentence(error.errors(include_url=False, include_input=False))) from None


async def no_body(request: Request) -> None:
    """Refuse a body that says anything."""
    if says_nothing(request.scope["by_name"]):
        return
    body = await request.body()
    if body.strip() not in (b"", b"{}", b"null"):
        raise Invalid("the body is not empty; nothing can be said here")


def says_nothing(headers: Mapping[bytes, bytes]) -> bool:
    """Whether the headers of a request announce no body."""
    length = headers.get(b"content-length", b"0")
    return length == b"0" and b"transfer-encoding" not in headers


def taking(model: type[BaseModel] | None, *parameters: dict[str, Any]) -> dict[str, Any]:
    """What the document says of a route whose body and parameters are read by hand."""
    found: dict[str, Any] = {"parameters": list(parameters), "security": [{"HTTPBearer": []}]}
    if model is not None:
        schema = {"$ref": REFERENCE.format(model=model.__name__)}
        found["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schema}},
        }
    return found


def path_parameter(name: str) -> dict[str, Any]:
    """A part of the path."""
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def schemas() -> dict[str, Any]:
    """The forms of these bodies, and of errors."""
    models: list[tuple[type[BaseModel], Any]] = [
        (model, "validation") for model in (AskMany, Told, ToldMany, ProblemDetails)
    ]
    found: dict[str, Any] = models_json_schema(models, ref_template=REFERENCE)[1]["$defs"]
    return found
