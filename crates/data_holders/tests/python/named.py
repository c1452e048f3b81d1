"""The holders of a module by the names of their definitions."""

import importlib.util
import sys
from typing import Any


def load(path: str) -> tuple[Any, dict[str, Any]]:
    spec = importlib.util.spec_from_file_location("holders", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["holders"] = module
    spec.loader.exec_module(module)
    kinds = [getattr(module, name) for name in module.__all__]
    # Each says at first what it is called.
    return module, {(kind.__doc__ or "").split("\n")[0][:-1]: kind for kind in kinds}
