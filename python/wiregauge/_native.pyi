"""Types of the native module."""

from os import PathLike
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union, final

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
    "read",
    "run_json",
]

__version__: str

class WiregaugeError(Exception): ...
class WiregaugeWarning(UserWarning): ...

@final
class Channel:
    @property
    def topic(self) -> str: ...
    @property
    def encoding(self) -> str: ...
    @property
    def schema_name(self) -> str: ...
    @property
    def schema_encoding(self) -> str: ...
    @property
    def schema(self) -> bytes: ...
    @property
    def metadata(self) -> Dict[str, str]: ...

@final
class Message:
    @property
    def channel(self) -> Channel: ...
    @property
    def topic(self) -> str: ...
    @property
    def schema_name(self) -> str: ...
    @property
    def encoding(self) -> str: ...
    @property
    def log_time(self) -> Optional[int]: ...
    @property
    def publish_time(self) -> Optional[int]: ...
    @property
    def sequence(self) -> int: ...
    @property
    def data(self) -> memoryview: ...

@final
class Messages(Iterator[Message]):
    @property
    def channels(self) -> List[Channel]: ...
    def __iter__(self) -> Messages: ...
    def __next__(self) -> Message: ...

@final
class Columns:
    @property
    def column_names(self) -> List[str]: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object: ...

@final
class Figures:
    @property
    def raw(self) -> Dict[str, Any]: ...
    @property
    def column_names(self) -> List[str]: ...
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(
        self, requested_schema: Optional[object] = None
    ) -> Tuple[object, object]: ...
    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object: ...

def read(
    path: Union[str, PathLike[str]],
    topics: Union[str, Sequence[str], None] = None,
    start: Optional[int] = None,
    end: Optional[int] = None,
    *,
    osi_type: Optional[str] = None,
) -> Messages: ...
def columns(
    path: Union[str, PathLike[str]],
    topic: Optional[str] = None,
    fields: Optional[Sequence[str]] = None,
    rows: Optional[str] = None,
    start: Optional[int] = None,
    end: Optional[int] = None,
    *,
    definition: Optional[bytes] = None,
    osi_type: Optional[str] = None,
) -> Columns: ...
def run_json(path: Union[str, PathLike[str]]) -> Figures: ...
