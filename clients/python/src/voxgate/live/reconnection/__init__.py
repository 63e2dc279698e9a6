"""How a live session goes on when its connection breaks."""
