"""Benchmarks: what the core costs, beside the floor that no implementation could go under. Run by `make bench`."""
