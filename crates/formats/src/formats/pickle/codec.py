"""The normalized message by Python's own pickle."""

import pickle
import platform

import glue
from form import FORM
from wiregauge_runner import Codec, serve


class Pickle(Codec):
    library = f"pickle {platform.python_version()}"

    parse = staticmethod(pickle.loads)

    def write(self, message):
        return pickle.dumps(message, protocol=5)

    def project(self, wire):
        return glue.project(pickle.loads(wire))

    def exact(self, wire):
        return glue.exact(pickle.loads(wire))

    def fixed(self, wire):
        return glue.fixed(pickle.loads(wire))

    def element(self, wire):
        return glue.element(pickle.loads(wire))


def main():
    serve(Pickle, FORM)
