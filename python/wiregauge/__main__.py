"""python -m wiregauge: the command line of this package, whichever is first in PATH."""

import os
import sys
import sysconfig


def find_program() -> str:
    """Where the program was installed with this package."""
    user = "posix_user"
    folders = [sysconfig.get_path("scripts")]
    if user in sysconfig.get_scheme_names():
        folders.append(sysconfig.get_path("scripts", user))
    # With --target it lies beside the packages.
    folders.append(os.path.join(os.path.dirname(os.path.dirname(__file__)), "bin"))
    for folder in folders:
        program = os.path.join(folder, "wiregauge")
        if os.access(program, os.X_OK):
            return program
    sys.exit(
        f"wiregauge: there is no program wiregauge in {' or '.join(folders)}; install it with "
        "pip install --force-reinstall wiregauge"
    )


if __name__ == "__main__":
    program = find_program()
    os.execv(program, [program, *sys.argv[1:]])
