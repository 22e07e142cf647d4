"""The running service: the app, the server, its workers, its metrics."""
