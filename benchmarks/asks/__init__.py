"""Apps that answer asks (the service, or an empty route), and clients that wait for answers."""
