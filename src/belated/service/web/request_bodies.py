"""Bodies of fast routes: read without the framework, and described to the OpenAPI document."""

from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError
from pydantic.json_schema import models_json_schema

from belated.service.core.errors import InvalidRequestError
from belated.service.web.error_responses import sentence
from belated.service.web.forgery import has_no_body
from belated.service.web.models import (
    AskBatchBody,
    AskBody,
    ProblemDetails,
    ReportBatchBody,
    ReportBody,
)

Model = TypeVar("Model", bound=BaseModel)
EMPTY = (b"", b"{}", b"null")  # bodies that say nothing
REFERENCE = "#/components/schemas/{model}"


async def read(request: Request, model: type[Model]) -> Model:
    """The body of a request, validated; InvalidRequestError if it is not valid."""
    return validated(await request.body(), model)


def validated(body: bytes, model: type[Model]) -> Model:
    """A body as this model; InvalidRequestError if it is not valid."""
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        raise InvalidRequestError(sentence(faults)) from None


async def no_body(request: Request) -> None:
    """Refuse a body that is not empty."""
    if not has_no_body(request.scope["by_name"]):
        check_empty(await request.body())


def check_empty(body: bytes) -> None:
    """Refuse a body that says something; InvalidRequestError."""
    if body.strip() not in EMPTY:
        raise InvalidRequestError("the body is not empty; nothing can be said here")


def described(
    model: type[BaseModel] | None, *parameters: dict[str, Any], required: bool = True
) -> dict[str, Any]:
    """The description of a fast route's body and parameters for the OpenAPI document."""
    found: dict[str, Any] = {"parameters": list(parameters), "security": [{"HTTPBearer": []}]}
    if model is not None:
        schema = {"$ref": REFERENCE.format(model=model.__name__)}
        found["requestBody"] = {
            "required": required,
            "content": {"application/json": {"schema": schema}},
        }
    return found


def path_parameter(name: str) -> dict[str, Any]:
    """The description of a parameter in the path."""
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def schemas() -> dict[str, Any]:
    """The JSON schemas of these bodies, and of errors."""
    models: list[tuple[type[BaseModel], Any]] = [
        (model, "validation")
        for model in (AskBody, AskBatchBody, ReportBody, ReportBatchBody, ProblemDetails)
    ]
    found: dict[str, Any] = models_json_schema(models, ref_template=REFERENCE)[1]["$defs"]
    return found
