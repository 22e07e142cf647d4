"""The oblivious adversary: losses and delays for every round and arm."""
