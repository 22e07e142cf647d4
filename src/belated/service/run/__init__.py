"""The running service.

- `app`: `create_app` builds the FastAPI app over a store; `Settings` says how it runs
- `server`: `serve` runs the app on a socket until it is stopped
- `connections`: limits on connections, which hold before anybody has shown a key
- `direct_connections`, `direct_requests`: single asks and tells take a short way past the framework
- `fair_acceptor`: connections are spread over workers
- `worker_pool`: several worker processes on one socket; one that dies is replaced
- `housekeeping`: what the service does by itself from time to time: retention, deletion
- `json_log`: the log as lines of JSON
- `span_export`: where the spans of `web.tracing` go

The metrics are in `web.metrics`, because the routes count with them.
"""
