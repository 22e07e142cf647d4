"""HTTP: the routes of the service, their bodies, and what every request passes on its way.

A request passes these in order (all wrap the app as ASGI middleware, see `run.app`):

- `request_log`: gives it an id, limits the size of its body, logs and counts it
- `auth_middleware`: refuses it without a valid key, by `auth`: keys, scopes and rate limits; and
  what a page of somebody else made a browser send, by `forgery`
- `tracing`: if it is on, gives it a span for OpenTelemetry
- `fast_routes`: sends the most frequent requests directly to their endpoints

Then come the routes:

- `decisions`: ask, tell, cancel, and tickets
- `problems`: create, show, change problems, their statistics and logs
- `insight`: why the weights moved
- `keys`: API keys
- `monitoring`: health, metrics, verification
- `dashboard`: the web page and its files
- `compat.personalizer`: the routes of Azure Personalizer

Routes use these:

- `bridge`: `Bridge` passes requests from the event loop to the commit thread, and answers back
- `backlog`: how long a request would wait; refused at once if that is too long
- `dependencies`: the bridge and the caller, as arguments of routes
- `models`, `monitoring_models`: the wire forms (`...Body`), as the OpenAPI document shows them
- `request_bodies`, `json_response`: bodies read and written without the framework's overhead
- `views`: replicas as JSON objects
- `error_responses`: errors as application/problem+json
- `readiness`: whether the service can commit and has read the journal
- `metrics`, `problem_metrics`: the numbers for Prometheus, of the workers and of the problems
"""
