"""The decision service: problems, tickets and outcomes in a journal, over HTTP.

Each package imports only from those above it in this list:

- `store`: the journal and the tables beside it, in SQLite or PostgreSQL
- `tickets`: open tickets, kept small
- `contexts`: what is known of a round, as text in the journal and as a learner takes it
- `outcomes`: several outcomes for one ticket, and the rule that makes one reward of them
- `statistics`: sums of a problem's outcomes, delays and weights, and estimates from them
- `core`: the domain: requests, the thread that commits them in batches, replicas of the learners
- `upkeep`: old tickets are folded into checkpoints, and what is not needed is deleted
- `admin`: what an administrator does: arms, keys, export, verification, work without a server
- `web`: HTTP: routes, bodies, authentication, metrics
- `run`: the running service: the app, the server process, its workers

`dashboard` holds the files of the web page that shows the problems.

Where things happen. An HTTP ask enters in `web.decisions.ask`, crosses to the commit thread in
`web.bridge.Bridge.do`, becomes a record in `core.batch.CommitBatch`, and becomes a row of the
journal in `store.Store.append`. A ticket expires in `core.expiry`.
"""
