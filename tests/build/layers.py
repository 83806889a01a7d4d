#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the source tree: which layer includes which, a README in each folder, the length of files,
their licence line. Prints each fault with what to do about it; exits with 1 when there is any."""

import pathlib
import re
import sys

# Layer -> layers that it may include, beside itself. docs/design.md says the same in words.
MAY_INCLUDE = {
    "base": [],
    "drivers": ["base"],
    "memory": ["base", "drivers"],
    "topology": ["base", "drivers", "memory"],
    "net": ["base"],
    "bootstrap": ["base", "drivers", "net"],
    "transport": ["base", "drivers", "memory", "topology", "net"],
    "collectives": ["base", "topology"],
    "engine": ["base", "drivers", "memory", "topology", "net", "transport", "collectives"],
    "core": ["base", "drivers", "memory", "topology", "net", "bootstrap", "transport",
             "collectives", "engine"],
}
# Single headers that more layers may include: types without behaviour.
COMMON_HEADERS = {"memory/types.h": ["collectives"]}

# core implements the public interface, and engine calls the functions that users hand in with it.
PUBLIC_HEADER_LAYERS = ["core", "engine"]
# These see Gyre as a user does.
PUBLIC_ONLY_FOLDERS = ["perf", "plugins", "tests/process", "tests/support", "include"]
# Micro-benchmarks of one layer.
INSIDE_FOLDERS = ["perf/kernels"]

TREES = ["src", "include", "plugins", "tools", "perf", "tests", "scripts", "cmake"]
CODE = {".h", ".hpp", ".cpp", ".c", ".py", ".sh", ".cu"}
SOURCES = {".h", ".hpp", ".cpp", ".c", ".cu"}
MOST_LINES = 400
LICENCE = "SPDX-License-Identifier: Apache-2.0"
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.MULTILINE)


def files(root, suffixes):
    for tree in TREES:
        for path in sorted((root / tree).rglob("*")):
            if path.suffix in suffixes and path.is_file():
                yield path.relative_to(root)


def check_include(path, layer, header):
    """The fault in `header` being included by a file of `layer`, or None."""
    target = header.split("/")[0]
    if header.startswith("gyre/"):
        if layer in PUBLIC_HEADER_LAYERS:
            return None
        return f"{path}: layer {layer} includes <{header}>; only {PUBLIC_HEADER_LAYERS} may"
    if "/" not in header:  # the standard library has a <memory> too
        return None
    if target not in MAY_INCLUDE or target == layer or target in MAY_INCLUDE[layer]:
        return None
    if layer in COMMON_HEADERS.get(header, []):
        return None
    return (f"{path}: layer {layer} includes \"{header}\"; it may include only "
            f"{', '.join(MAY_INCLUDE[layer]) or 'itself'}. Move the code, or hand it in from above")


def is_below(path, folders):
    return any(path.as_posix().startswith(folder + "/") for folder in folders)


def check_layers(root):
    for path in files(root, SOURCES):
        includes = INCLUDE.findall((root / path).read_text())
        if path.parts[0] == "src":
            layer = path.parts[1]
            if layer not in MAY_INCLUDE:
                yield f"{path}: src/{layer} is no layer of tests/build/layers.py; add it there"
                continue
            faults = (check_include(path, layer, header) for _, header in includes)
            yield from (fault for fault in faults if fault)
        elif is_below(path, PUBLIC_ONLY_FOLDERS) and not is_below(path, INSIDE_FOLDERS):
            for quote, header in includes:
                if quote == '"' and "/" in header and header.split("/")[0] in MAY_INCLUDE:
                    yield f"{path}: includes \"{header}\"; this folder sees the public headers only"


def check_texts(root):
    for path in files(root, CODE | {".txt", ".cmake", ".map"}):
        lines = (root / path).read_text().splitlines()
        if len(lines) > MOST_LINES:
            yield f"{path}: {len(lines)} lines, at most {MOST_LINES}; split it by what it does"
        if path.suffix in CODE and not any(LICENCE in line for line in lines[:3]):
            yield f"{path}: the first lines lack \"{LICENCE}\""


def check_readmes(root):
    folders = {root / tree for tree in TREES if (root / tree).is_dir()}
    for parent in ("src", "src/drivers", "src/transport", "plugins", "tests", "docs"):
        folders |= {p for p in (root / parent).glob("*") if p.is_dir() and any(p.rglob("*.*"))}
    for folder in sorted(folders):
        if not (folder / "README.md").exists():
            yield f"{folder.relative_to(root)}: no README.md; say what it is for in a few lines"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    faults = [*check_layers(root), *check_texts(root), *check_readmes(root)]
    for fault in faults:
        print(fault)
    print(f"{len(faults)} faults in the source tree")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
