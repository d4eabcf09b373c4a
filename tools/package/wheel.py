#!/usr/bin/env python3
"""Packs an installation as a Python wheel: wheel.py ROOT VERSION MACHINE TIME SUMMARY OUTPUT.

The wheel has no Python code. pip copies its scripts to bin/ and its data below the prefix of the environment, where the program
finds its plugin in ../lib, as in any other installation.
"""
import base64
import hashlib
import os
import sys
import time
import zipfile


def main(root, version, machine, when, summary, output):
    # What the symbol tables need is checked by tests/system/package.sh.
    tag = f"py3-none-manylinux_2_17_{machine}.manylinux2014_{machine}"
    info = f"ringscope-{version}.dist-info"
    data = f"ringscope-{version}.data"
    date = time.gmtime(max(int(when), 315532800))[:6]  # the format begins in 1980
    record = []
    path = os.path.join(output, f"ringscope-{version}-{tag}.whl")

    with zipfile.ZipFile(path + ".new", "w") as wheel:

        def add(name, content, mode=0o644):
            entry = zipfile.ZipInfo(name, date)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content, compresslevel=9)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(content)}\n")

        for folder, folders, files in os.walk(root):
            folders.sort()
            for file in sorted(files):
                whole = os.path.join(folder, file)
                inside = os.path.relpath(whole, root)
                with open(whole, "rb") as f:
                    content = f.read()
                if inside.startswith("bin/"):
                    add(f"{data}/scripts/{file}", content, 0o755)
                elif inside.startswith("share/doc/ringscope/LICENSE") or "/licenses/" in inside:
                    add(f"{info}/licenses/{file}", content)
                elif inside.endswith(".spdx.json"):
                    add(f"{info}/sboms/{file}", content)
                elif not inside.endswith(".a"):  # for programs that link the plugin; they have the sources
                    add(f"{data}/data/{inside}", content, 0o755 if inside.endswith(".so") else 0o644)
        tags = "".join(f"Tag: py3-none-{platform}\n" for platform in tag.split("-")[2].split("."))
        add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: ringscope\nRoot-Is-Purelib: false\n{tags}".encode())
        add(
            f"{info}/METADATA",
            f"Metadata-Version: 2.1\nName: ringscope\nVersion: {version}\nSummary: {summary}\n"
            "License: Apache-2.0\n".encode(),
        )
        record.append(f"{info}/RECORD,,\n")
        entry = zipfile.ZipInfo(f"{info}/RECORD", date)
        entry.external_attr = 0o100644 << 16
        wheel.writestr(entry, "".join(record))
    os.rename(path + ".new", path)
    print(path)


main(*sys.argv[1:])
