"""From a request to a row of the journal: requests, batches, replicas, problems."""
