"""wiregauge: what it costs to move messages in automotive and robotics simulation.

    import wiregauge

    for message in wiregauge.read("drive.mcap", topics=["/lidar"]):
        print(message.log_time, len(message.data))        # a view, without a copy

    wiregauge.columns("drive.mcap", "/imu", ["header.stamp"])   # Arrow data
    figures = wiregauge.run_json("run.json")              # Arrow data
    wiregauge.packed                                      # the packed field, for NumPy

The package has the command line, too: ``wiregauge --help``, or ``python -m wiregauge``.
Everything is loaded on first use, so that ``wiregauge.packed``, which is Python alone, can
be used as a plain folder.
"""

from typing import TYPE_CHECKING, Any, List

if TYPE_CHECKING:
    from . import packed as packed
    from ._native import (
        Channel,
        Columns,
        Figures,
        Message,
        Messages,
        WiregaugeError,
        WiregaugeWarning,
        __version__,
        columns,
        read,
        run_json,
    )

__all__ = [
    "Channel",
    "Columns",
    "Figures",
    "Message",
    "Messages",
    "WiregaugeError",
    "WiregaugeWarning",
    "__version__",
    "columns",
    "packed",
    "read",
    "run_json",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    if name == "packed":
        return import_module(".packed", __name__)
    try:
        native = import_module("._native", __name__)
    except ModuleNotFoundError as error:
        raise ImportError(
            f"wiregauge.{name} needs the native module, which {__path__[0]} does not have; "
            "pip install wiregauge"
        ) from error
    value = getattr(native, name)
    globals()[name] = value
    return value


def __dir__() -> List[str]:
    return sorted({*globals(), *__all__})
