"""Makes the package wg.msg of the definitions in msg, as a build of ROS does."""

import sys
from pathlib import Path

sys.path.append(".")
import distribution  # noqa: F401, E402
from genpy.generate_initpy import write_modules  # noqa: E402
from genpy.generator import MsgGenerator  # noqa: E402

package = Path("wg/msg")
package.mkdir(parents=True, exist_ok=True)
Path("wg/__init__.py").touch()
definitions = sorted(str(path) for path in Path("msg").glob("*.msg"))
failed = MsgGenerator().generate_messages("wg", definitions, str(package), {"wg": ["msg"]})
sys.exit(failed or write_modules(str(package)))
