"""Puts the distribution's packages behind all others: genpy is among them, and in no
registry of Python's."""

import sys

sys.path.append("/usr/lib/python3/dist-packages")
