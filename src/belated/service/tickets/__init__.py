"""Tickets that wait for outcomes, kept small: there may be millions of them.

- `ticket_ids`: new ticket ids, and ids as numbers
- `open_plays`: the open plays of a replica, as numbers in arrays
- `open_tickets`: the open tickets of all replicas, by id and by deadline
- `deadlines`: a heap of deadlines
"""
