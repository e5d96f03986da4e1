"""A fleet: very many repositories under one name, in shards that are asked as if they were one index."""
