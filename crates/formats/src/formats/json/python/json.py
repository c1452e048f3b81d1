"""The standard library's json, as it is called."""

import json
import platform

from wiregauge_runner import Rejected

NAME = f"json {platform.python_version()}"


class Calls:
    def __init__(self):
        self.encoder = json.JSONEncoder(
            allow_nan=False, ensure_ascii=False, separators=(",", ":")
        )

    def encode(self, tree):
        return self.encoder.encode(tree).encode()

    decode = staticmethod(json.loads)

    def check(self, tree):
        try:
            self.encoder.encode(tree)
        except ValueError as error:
            raise Rejected("JSON cannot say NaN or an infinity") from error
