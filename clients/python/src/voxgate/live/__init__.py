"""Live sessions, over as many connections as it takes."""
