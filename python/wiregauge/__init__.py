"""wiregauge: what it costs to move messages in automotive and robotics simulation.

    import wiregauge

    drive = wiregauge.open("drive.mcap")
    for message in drive.messages("/lidar"):
        print(message.log_time, len(message.data))        # a view, without a copy

    drive.fields("/imu", ["header.stamp"])                # Arrow data
    wiregauge.plan("drives/*.mcap", "/imu")               # many recordings as one table
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
        Plan,
        Recording,
        Rows,
        Split,
        WiregaugeError,
        WiregaugeWarning,
        __version__,
        check,
        open,
        plan,
        run_json,
    )

__all__ = [
    "Channel",
    "Columns",
    "Figures",
    "Message",
    "Messages",
    "Plan",
    "Recording",
    "Rows",
    "Split",
    "WiregaugeError",
    "WiregaugeWarning",
    "__version__",
    "check",
    "open",
    "packed",
    "plan",
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
