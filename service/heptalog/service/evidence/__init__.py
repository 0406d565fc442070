"""Evidence as a service makes it: keys, signed checkpoints, proofs. What it rests on is `replay.evidence`."""
