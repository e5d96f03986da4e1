"""Shards of a fleet that are asked on the machines of a cluster of Ray."""
