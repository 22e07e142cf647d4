"""Spans: a tell links to the decision of days before, and that to its ask."""

import asyncio
import time
from pathlib import Path
from typing import Any

import httpx
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from belated.service.admin.offline import create
from belated.service.run.app import Settings, create_app
from belated.service.store import open_store
from belated.service.web.tracing import context_of, provider_to

CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


async def sent(database: str, *requests: tuple[str, str, Any]) -> tuple[list[Any], Any]:
    """The answers to requests, and the spans that were made meanwhile."""
    exporter = InMemorySpanExporter()
    provider = provider_to(SimpleSpanProcessor(exporter))
    app, answers = create_app(Settings(database, guarded=False), tracer_provider=provider), []
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            for method, path, body in requests:
                headers = {"traceparent": CALLER}
                answer = await http.request(method, path, json=body, headers=headers)
                answers.append(answer.json())
    return answers, exporter.get_finished_spans()


def named(spans: Any, name: str) -> list[ReadableSpan]:
    """The spans of this name."""
    return [span for span in spans if span.name == name]


def linked(span: ReadableSpan) -> list[tuple[int, int]]:
    """The ids of the spans that a span links to."""
    return [(link.context.trace_id, link.context.span_id) for link in span.links]


def ids(span: ReadableSpan) -> tuple[int, int]:
    """The ids of a span."""
    context = span.get_span_context()
    assert context is not None
    return context.trace_id, context.span_id


def test_a_tell_links_to_its_decision(tmp_path: Path) -> None:
    """Also after a restart: the decision's span has ids that its ticket gives."""
    database = str(tmp_path / "belated.db")
    with open_store(database) as store:
        create(store, "ads", {"arms": ["red", "green"], "learner": "exp3"}, time.time())
    batch = ("POST", "/v1/problems/ads/ask:batch", {"count": 2})
    (answer, _), first = asyncio.run(sent(database, batch, ("GET", "/v1/problems", None)))
    tickets = [each["ticket"] for each in answer["decisions"]]
    (asking,) = named(first, "POST /v1/problems/{name}/ask:batch")
    assert asking.parent is not None
    assert f"{asking.parent.trace_id:032x}" == CALLER.split("-")[1]
    assert asking.attributes is not None
    assert asking.attributes["http.response.status_code"] == 200
    decisions = named(first, "decision")
    expected = [context_of(ticket) for ticket in tickets]
    assert [ids(span) for span in decisions] == [(one.trace_id, one.span_id) for one in expected]
    assert [linked(span) for span in decisions] == [[ids(asking)]] * 2
    assert linked(asking) == [ids(span) for span in decisions]
    assert all(span.parent is None for span in decisions)
    reports = [{"ticket": ticket, "loss": 0.5} for ticket in (*tickets, "\0")]
    _, later = asyncio.run(sent(database, ("POST", "/v1/tell:batch", {"reports": reports})))
    (telling,) = named(later, "POST /v1/tell:batch")
    assert linked(telling) == [ids(span) for span in decisions]


def test_other_spans_have_ids_of_their_own(tmp_path: Path) -> None:
    """Chosen ids are for decisions only; an error is an error of its span."""
    path = "/v1/tickets/" + "0" * 26 + "/tell"
    _, spans = asyncio.run(sent(str(tmp_path / "b.db"), *[("POST", path, {"loss": 0})] * 3))
    assert len({ids(span)[1] for span in spans}) == 3
    assert all(span.status.is_unset for span in spans)
