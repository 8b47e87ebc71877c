"""A shoe: seed, expansion, shuffle, commitment and card tree. Pure and replayable."""
