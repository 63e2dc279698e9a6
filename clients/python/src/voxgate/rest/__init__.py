"""Calls over HTTP, by the standard library alone."""
