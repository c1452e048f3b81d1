"""orjson, as it is called."""

import json

import orjson
from wiregauge_runner import Rejected

NAME = f"orjson {orjson.__version__}"


class Calls:
    encode = staticmethod(orjson.dumps)
    decode = staticmethod(orjson.loads)

    def check(self, tree):
        try:
            json.dumps(tree, allow_nan=False)
        except ValueError as error:
            raise Rejected("JSON cannot say NaN or an infinity") from error
