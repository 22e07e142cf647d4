"""Spans for OpenTelemetry: one for each request, and one for each decision.

A decision and its outcome may be days apart and belong to different traces. The span of a decision
has ids that are made from its ticket. So a tell links to it, at any worker and at any time, and
nothing has to be stored for that; the decision's span links to the ask that it was made for.
"""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from belated import __version__
from belated.service.store import Decision

PARENT = ("traceparent", "tracestate")  # the headers in which a caller sends its own span
chosen: ContextVar[SpanContext | None] = ContextVar("chosen", default=None)


class SpanIds(RandomIdGenerator):
    """Random ids for spans, except for one whose ids were chosen."""

    def generate_trace_id(self) -> int:
        """The id of a new trace."""
        context = chosen.get()
        return super().generate_trace_id() if context is None else context.trace_id

    def generate_span_id(self) -> int:
        """The id of a new span."""
        context = chosen.get()
        return super().generate_span_id() if context is None else context.span_id


def context_of(ticket: str) -> SpanContext:
    """The ids of the span of a ticket's decision."""
    digest = hashlib.sha256(ticket.encode()).digest()
    trace_id, span_id = int.from_bytes(digest[:16]), int.from_bytes(digest[16:24])
    return SpanContext(trace_id, span_id, is_remote=True, trace_flags=TraceFlags(1))


def provider_to(processor: SpanProcessor) -> TracerProvider:
    """A provider whose spans go to a processor; OTEL_SERVICE_NAME may give another name."""
    resource = Resource({SERVICE_NAME: "belated"}).merge(Resource.create({}))
    provider = TracerProvider(id_generator=SpanIds(), resource=resource)
    provider.add_span_processor(processor)
    return provider


class Tracing:
    """Makes the spans of requests and decisions, and links them."""

    def __init__(self, provider: TracerProvider) -> None:
        self._tracer = provider.get_tracer("belated", __version__)
        self._propagator = TraceContextTextMapPropagator()

    @contextmanager
    def request(self, scope: Scope) -> Iterator[trace.Span]:
        """The span of a request, which is current meanwhile."""
        headers: dict[bytes, bytes] = scope["by_name"]
        sent = {
            name: headers[name.encode()].decode("latin-1")
            for name in PARENT
            if name.encode() in headers
        }
        with self._tracer.start_as_current_span(
            scope["method"],
            self._propagator.extract(sent, Context()),
            SpanKind.SERVER,
            {"http.request.method": scope["method"], "belated.request_id": scope["request_id"]},
        ) as span:
            yield span

    def decided(self, decisions: Iterable[Decision]) -> None:
        """Make the span of each decision, and link it with the present request's."""
        asking = trace.get_current_span()
        for decision in decisions:
            found = {"belated.problem": decision.problem, "belated.ticket": decision.ticket}
            if decision.arm is not None:
                found["belated.arm"] = decision.arm
            token = chosen.set(context_of(decision.ticket))
            try:
                links = [Link(asking.get_span_context())]
                self._tracer.start_span("decision", Context(), links=links, attributes=found).end()
            finally:
                chosen.reset(token)
            asking.add_link(context_of(decision.ticket))

    def told(self, tickets: Iterable[str]) -> None:
        """Link the present request to the decisions that it is about."""
        for ticket in tickets:
            trace.get_current_span().add_link(context_of(ticket))


class TracingMiddleware:
    """Wraps an app; each request has a span, and `tracing` is in its scope."""

    def __init__(self, app: ASGIApp, tracing: Tracing) -> None:
        self._app, self._tracing = app, tracing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope["tracing"] = self._tracing
        with self._tracing.request(scope) as span:

            async def noted(message: Message) -> None:
                if message["type"] == "http.response.start":
                    span.set_attribute("http.response.status_code", message["status"])
                    if message["status"] >= 500:
                        span.set_status(Status(StatusCode.ERROR))
                await send(message)

            await self._app(scope, receive, noted)
            route = scope.get("route_path") or getattr(scope.get("route"), "path", None)
            if route is not None:
                span.update_name(f"{scope['method']} {route}")
                span.set_attribute("http.route", route)
