"""Games that nobody played: a federation of named bots, its tournaments, and the years in which it grew."""
