"""What the gateway answers and says, as dataclasses: generated from its schemas, but for the reader."""
