"""The Python side of the runner protocol (docs/runner-protocol.md)."""

from wiregauge_runner.codec import Codec, Rejected
from wiregauge_runner.serve import serve

__all__ = ["Codec", "Rejected", "serve"]
