"""Others that do what we do, measured beside us in one run: each in a process of its own, taking turns."""
