#!/usr/bin/env python3
"""Writes what is linked into the program: licences.txt for people, and sbom.cdx.json
(CycloneDX 1.6) for tools. The same sources give the same bytes.

    packaging/licences.py TARGET FOLDER [MANIFEST PACKAGE … [+ MANIFEST PACKAGE …]]

TARGET is Rust's name of a platform, such as x86_64-unknown-linux-gnu. Without packages it is the
program that is meant.
"""

import dataclasses
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADS = ("LICEN", "COPYING", "UNLICENSE", "NOTICE", "COPYRIGHT")
# C sources that packages bring: of which package, name, licence, and where its text is.
C_SOURCES = [
    ("libsqlite3-sys", "sqlite", "blessing", None),
    ("lz4-sys", "lz4", "BSD-2-Clause", "liblz4/lib/LICENSE"),
    ("zstd-sys", "zstd", "BSD-3-Clause", "zstd/LICENSE"),
]


@dataclasses.dataclass
class Component:
    """Something that is linked in, with the texts of its licence."""

    name: str
    version: str
    licence: str
    origin: str
    purl: str
    texts: list = dataclasses.field(default_factory=list)
    sha256: str = ""


def linked(metadata, roots):
    """The packages that the roots are linked from, by name: no build scripts, macros or tests."""
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    todo = [p["id"] for p in packages.values() if p["name"] in roots and not p["source"]]
    seen = set(todo)
    while todo:
        for dependency in nodes[todo.pop()]["deps"]:
            normal = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            target = packages[dependency["pkg"]]
            macro = any("proc-macro" in t["kind"] for t in target["targets"])
            if normal and not macro and dependency["pkg"] not in seen:
                seen.add(dependency["pkg"])
                todo.append(dependency["pkg"])
    found = (packages[one] for one in seen if packages[one]["source"])
    return sorted(found, key=lambda package: (package["name"], package["version"]))


def read(path):
    return path.read_text(encoding="utf-8", errors="replace").strip()


def of_package(package, checksums):
    """What a package is, and the licence files that it brings. Crates once wrote OR as a slash."""
    name, version = package["name"], package["version"]
    folder = pathlib.Path(package["manifest_path"]).parent
    files = sorted(f for f in folder.iterdir() if f.is_file() and f.name.upper().startswith(HEADS))
    licence = re.sub(r"\s*/\s*", " OR ", package["license"] or "NOASSERTION")
    origin = package["repository"] or "crates.io"
    purl = f"pkg:cargo/{name}@{version}"
    texts = [read(file) for file in files]
    return Component(name, version, licence, origin, purl, texts, checksums.get((name, version), ""))


def of_c_sources(packages):
    """The C sources that some of the packages bring. Their version is in the package's, or in
    SQLite's header."""
    for owner, name, licence, text in C_SOURCES:
        package = next((p for p in packages if p["name"] == owner), None)
        if not package:
            continue
        folder = pathlib.Path(package["manifest_path"]).parent
        if name == "sqlite":
            header = read(folder / "sqlite3/sqlite3.h")
            version = re.search(r'#define SQLITE_VERSION\s+"(.*)"', header).group(1)
        else:
            version = re.search(r"\+\w+[-.]([\d.]+)$", package["version"]).group(1)
        texts = [read(folder / text)] if text else []
        origin = f"in {owner} {package['version']}"
        yield Component(name, version, licence, origin, f"pkg:generic/{name}@{version}", texts)


def of_compilers():
    """What compilers add: the C++ library of the old release that is linked against, the
    compiler's own functions, what glibc starts programs with, and Rust's standard library."""
    packages = read(ROOT / "packaging/old-glibc.packages")
    toolchain = read(ROOT / "rust-toolchain.toml")
    exception = read(ROOT / "packaging/gcc-exception.txt")
    gcc = "GPL-3.0-or-later WITH GCC-exception-3.1"
    libstdcpp = re.search(r"libstdc\+\+-\d+-dev_([\d.]+)", packages).group(1)
    glibc = re.search(r"libc6_([\d.]+)", packages).group(1)
    rust = re.search(r'channel = "(.*)"', toolchain).group(1)
    for name, version, licence, origin, texts in [
        ("libstdc++", libstdcpp, gcc, "https://gcc.gnu.org", [exception]),
        ("libgcc", "", gcc, "https://gcc.gnu.org", [exception]),
        ("glibc-start-files", glibc, "LGPL-2.1-or-later", "https://sourceware.org/glibc", []),
        ("rust-std", rust, "MIT OR Apache-2.0", "https://github.com/rust-lang/rust", []),
    ]:
        at = f"@{version}" if version else ""
        purl = f"pkg:generic/{name.replace('+', '%2B')}{at}"
        yield Component(name, version, licence, origin, purl, texts)


def people(components):
    """Every component with its licence, then every text once, with whose it is."""
    lines = ["What is linked into wiregauge, and its licences.", ""]
    texts = {}
    for one in components:
        name = f"{one.name} {one.version}".strip()
        lines.append(f"{name}: {one.licence}, {one.origin}")
        for text in one.texts:
            texts.setdefault(text, []).append(name)
    for text, names in sorted(texts.items(), key=lambda item: item[1]):
        lines += ["", "-" * 80, ", ".join(names), "-" * 80, text]
    return "\n".join(lines) + "\n"


def tools(components, version):
    """The same as CycloneDX."""
    listed = []
    for one in components:
        entry = {"type": "library", "bom-ref": one.purl, "name": one.name}
        if one.version:
            entry["version"] = one.version
        entry |= {"licenses": [{"expression": one.licence}], "purl": one.purl}
        if one.sha256:
            entry["hashes"] = [{"alg": "SHA-256", "content": one.sha256}]
        listed.append(entry)
    program = {"type": "application", "bom-ref": "wiregauge", "name": "wiregauge"}
    program |= {"version": version, "licenses": [{"expression": "Apache-2.0"}]}
    bom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": program},
        "components": listed,
        "dependencies": [{"ref": "wiregauge", "dependsOn": [one.purl for one in components]}],
    }
    return json.dumps(bom, indent=1) + "\n"


def linked_from(target, manifest, roots):
    """The packages that the roots of a manifest are linked from, and the checksums of all."""
    words = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target]
    words += ["--manifest-path", manifest]
    told = subprocess.run(words, check=True, stdout=subprocess.PIPE, cwd=ROOT).stdout
    metadata = json.loads(told)
    entry = r'name = "(.*)"\nversion = "(.*)"\nsource = ".*"\nchecksum = "(.*)"'
    found = re.findall(entry, read(pathlib.Path(manifest).with_name("Cargo.lock")))
    checksums = {(name, number): digest for name, number, digest in found}
    return linked(metadata, roots), checksums


def main():
    target, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    said = sys.argv[3:] or [str(ROOT / "Cargo.toml"), "wiregauge"]
    packages, checksums = {}, {}
    while said:
        end = said.index("+") if "+" in said else len(said)
        (manifest, *roots), said = said[:end], said[end + 1 :]
        found, known = linked_from(target, manifest, roots)
        packages |= {(one["name"], one["version"]): one for one in found}
        checksums |= known
    packages = [packages[key] for key in sorted(packages)]
    components = [of_package(package, checksums) for package in packages]
    components += [*of_c_sources(packages), *of_compilers()]
    workspace = re.search(r'\[workspace.package\]\nversion = "(.*)"', read(ROOT / "Cargo.toml"))
    version = workspace.group(1)
    (folder / "licences.txt").write_text(people(components), encoding="utf-8")
    (folder / "sbom.cdx.json").write_text(tools(components, version), encoding="utf-8")


if __name__ == "__main__":
    main()
