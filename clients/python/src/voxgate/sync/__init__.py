"""Live sessions without asyncio: an event loop in a thread, and the asyncio session in it."""
