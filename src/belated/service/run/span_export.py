"""Where spans go: to a collector of OpenTelemetry, which the variables OTEL_... name."""

import importlib.util
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

NEEDED = ("opentelemetry.sdk", "opentelemetry.exporter")


def exporting_provider() -> "TracerProvider":
    """A provider that exports its spans by OTLP; ValueError if libraries are missing."""
    if any(importlib.util.find_spec(name) is None for name in NEEDED):
        raise ValueError("spans need more libraries: pip install 'belated[otel]'")
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    from belated.service.web.tracing import provider_to

    return provider_to(BatchSpanProcessor(OTLPSpanExporter()))
