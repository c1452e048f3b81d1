"""Packs the wheel of the Python package: the package, its native module and the program, with
the one that reads archives, which both find below the prefix of their environment. Or
the wheel of prebuilt rows, which the program finds below the prefix of its environment.

    pack_wheel.py --program PROGRAM --module LIBRARY --archive PROGRAM -o FOLDER
    pack_wheel.py --rows PREFIX -o FOLDER

All is compiled before. The wheel's tag says the machine that it is for and the oldest glibc
that has what it needs, as the programs say it themselves. The same files give the same wheel,
to the byte. Prints the path of the wheel. Needs Python 3.11 and readelf.
"""

import argparse
import base64
import hashlib
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent

#: What the wheel of prebuilt rows says of itself.
ROWS = """# Prebuilt rows of wiregauge

`wiregauge codecs` compiles a program for each codec. Where there is no compiler, it takes those
for Rust from this package, for the message that it measures by default. Use it beside
`wiregauge` of the same version:

    pip install wiregauge wiregauge-rows
    wiregauge codecs --quick
"""

#: What a library or a program needs of the system, by PEP 600 (manylinux).
SYSTEM = re.compile(
    r"lib(c|m|dl|rt|pthread|util)\.so\.\d+|libgcc_s\.so\.1|libstdc\+\+\.so\.6"
    r"|ld-linux(-x86-64|-aarch64)\.so\.\d"
)


def read_elf(path):
    """The machine of a program or library, and the glibc that it needs, as (2, 28)."""
    said = subprocess.run(
        ["readelf", "--wide", "--file-header", "--dynamic", "--version-info", path],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "LC_ALL": "C"},
    ).stdout
    kind = re.search(r"Machine: +(.+)", said)[1]
    machine = {"Advanced Micro Devices X86-64": "x86_64", "AArch64": "aarch64"}.get(kind)
    if machine is None:
        sys.exit(f"pack_wheel: {path} is for {kind}; x86-64 and AArch64 have wheels")
    for library in re.findall(r"\(NEEDED\).*\[(.+)\]", said):
        if not SYSTEM.fullmatch(library):
            sys.exit(f"pack_wheel: {path} needs {library}, which not every system has; link it in")
    versions = re.findall(r"Name: GLIBC_(\d+)\.(\d+)", said)
    return machine, max((int(major), int(minor)) for major, minor in versions)


def metadata(project, version):
    """The text of METADATA, by PyPA's specification of core metadata."""
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {version}",
        f"Summary: {project['description']}",
        f"Keywords: {','.join(project['keywords'])}",
        f"License-Expression: {project['license']}",
        "License-File: LICENSE",
        *(f"Classifier: {name}" for name in project["classifiers"]),
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {need}" for need in project["dependencies"]),
    ]
    for extra, needs in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {need} ; extra == '{extra}'" for need in needs]
    lines += ["Description-Content-Type: text/markdown", ""]
    return "\n".join(lines) + "\n" + project["readme"]


def platform(programs):
    """The tag of the platform that has what programs and libraries need."""
    needs = [read_elf(path) for path in programs]
    machines = {machine for machine, _ in needs}
    if len(machines) != 1:
        sys.exit(f"pack_wheel: the programs are for {', '.join(sorted(machines)) or 'no machine'}")
    # The oldest that pip knows by this name is 2.5; Python 3.9 itself wants 2.17.
    glibc = max((2, 17), *(glibc for _, glibc in needs))
    return f"manylinux_{glibc[0]}_{glibc[1]}_{machines.pop()}"


def tree(folder, prefix):
    """The files below a folder, by their names behind a prefix."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {f"{prefix}/{path.relative_to(folder)}": path.read_bytes() for path in paths}


def pack(project, version, tag, files, programs, wanted):
    """Writes the wheel of these files, of which some are programs; its path."""
    name = project["name"].replace("-", "_")
    about = f"{name}-{version}.dist-info"
    files[f"{about}/METADATA"] = metadata(project, version).encode()
    pure = "Root-Is-Purelib: false"
    files[f"{about}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: wiregauge\n{pure}\nTag: {tag}\n".encode()
    )
    files[f"{about}/licenses/LICENSE"] = (HERE.parent / "LICENSE").read_bytes()
    if wanted.licences:
        files |= tree(wanted.licences, f"{about}/licenses")
    record = f"{about}/RECORD"
    lines = []
    for path in sorted(files):
        digest = base64.urlsafe_b64encode(hashlib.sha256(files[path]).digest()).rstrip(b"=")
        lines.append(f"{path},sha256={digest.decode()},{len(files[path])}\n")
    files[record] = ("".join(lines) + f"{record},,\n").encode()

    wanted.output.mkdir(parents=True, exist_ok=True)
    wheel = wanted.output / f"{name}-{version}-{tag}.whl"
    half = wheel.with_suffix(".part")
    method = zipfile.ZIP_STORED if wanted.store else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(half, "w", method, compresslevel=9) as archive:
        # What the wheel is about comes last, as PyPA recommends.
        for path in sorted(files, key=lambda path: (path.startswith(about), path)):
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = method
            entry.external_attr = (0o100755 if path in programs else 0o100644) << 16
            archive.writestr(entry, files[path])
    half.replace(wheel)
    return wheel


def pack_package(project, version, wanted):
    """The wheel of the package with the program."""
    programs = [wanted.program, wanted.module]
    programs += [wanted.archive] if wanted.archive else []
    tag = f"cp39-abi3-{platform(programs)}"
    name = project["name"]
    package = HERE / name
    files = {
        f"{name}/{path.relative_to(package)}": path.read_bytes()
        for path in package.rglob("*")
        if path.suffix in (".py", ".pyi") or path.name == "py.typed"
    }
    files[f"{name}/_native.abi3.so"] = wanted.module.read_bytes()
    script = f"{name}-{version}.data/scripts/{name}"
    files[script] = wanted.program.read_bytes()
    names = {script}
    if wanted.archive:
        machine, _ = read_elf(wanted.archive)
        place = f"lib/wiregauge/{version}/{machine}/archive/wiregauge-archive"
        names.add(f"{name}-{version}.data/data/{place}")
        files[f"{name}-{version}.data/data/{place}"] = wanted.archive.read_bytes()
    return pack(project, version, tag, files, names, wanted)


def pack_rows(project, version, wanted):
    """The wheel of prebuilt rows, which lie below the prefix of its environment."""
    rows = [path for path in sorted(wanted.rows.rglob("*")) if path.is_file()]
    programs = [path for path in rows if path.suffix not in (".json", ".stamp")]
    tag = f"py3-none-{platform(programs)}"
    data = f"wiregauge_rows-{version}.data/data"
    names = {f"{data}/{path.relative_to(wanted.rows)}" for path in programs}
    project = project | {
        "name": "wiregauge-rows",
        "description": "Prebuilt rows of wiregauge, for machines without compilers.",
        "classifiers": [name for name in project["classifiers"] if not name.startswith("Typing")],
        "dependencies": [f"wiregauge=={version}"],
        "optional-dependencies": {},
        "readme": ROWS,
    }
    return pack(project, version, tag, tree(wanted.rows, data), names, wanted)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path)
    parser.add_argument("--module", type=Path)
    parser.add_argument("--archive", type=Path, help="the program that reads archives")
    parser.add_argument("--rows", type=Path, help="what lies below a prefix")
    parser.add_argument("--store", action="store_true", help="do not compress: for tests")
    parser.add_argument("--licences", type=Path, help="a folder of what else goes with it")
    parser.add_argument("-o", "--output", type=Path, required=True)
    wanted = parser.parse_args()
    if bool(wanted.rows) == bool(wanted.program and wanted.module):
        parser.error("give --program and --module, or --rows")

    project = tomllib.loads((HERE / "pyproject.toml").read_text("utf-8"))["project"]
    project["readme"] = (HERE / project["readme"]).read_text("utf-8")
    workspace = tomllib.loads((HERE.parent / "Cargo.toml").read_text("utf-8"))["workspace"]
    version = workspace["package"]["version"]
    print((pack_rows if wanted.rows else pack_package)(project, version, wanted))


if __name__ == "__main__":
    main()
