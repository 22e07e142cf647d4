"""Load on a service in processes of its own: it is started, and many clients ask and tell."""
