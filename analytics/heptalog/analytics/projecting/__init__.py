"""From the events of one game to its rows in every table: folded by the rules, and nothing added to what follows."""
