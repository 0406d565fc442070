"""What a report shows of one kind of game: charts, each with a caption and its numbers. Not every game has all."""
