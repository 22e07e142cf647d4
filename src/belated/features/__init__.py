"""Features: contexts as users give them, turned into the numbers that learners work with.

A context is what is known of a round before it is played, such as {"age": 31, "device": "phone"}.
Encoding depends on nothing but the declared features and the context, so that it is the same in
every process and every release. What is learned on the way, such as how large a feature usually is,
belongs to the learner's state.

- `flattening`: lists and nested records as pairs of a name and a value, within limits.
- `hashing`: the coordinate and the sign of a name.
- `encoder`: `encoder_for(features, hash_bits)`, and the numbers that it makes of a context.
- `plans`: the short way for dicts of a shape that was seen before.
- `tables`: many contexts that are all known beforehand, as a table.
"""
