# SPDX-License-Identifier: Apache-2.0
"""Lists the public symbols of the libraries that have no documentation.

Usage: python3 dev/check-docs.py FOLDER, with what 'swift package dump-symbol-graph' wrote. A symbol that implements a
documented requirement of a protocol inherits its text, and needs none of its own; a case is part of its enumeration,
whose text speaks for the cases that their names explain.
"""
import json
import pathlib
import sys

LIBRARIES = ["NDEF", "TagLink", "VisibleText", "CardCryptography", "TagProtocols", "TagTrace", "VirtualTags", "VirtualCards",
             "TagImages", "PN532Driver", "PCSCDriver", "NFCReaders", "NFCRuntime", "CoreNFC", "NFCTestKit", "UniversalLinks",
             "BackgroundTagReading", "PrivateStorage", "LinkFetching", "LinkDelivery", "UserActivityReceiving", "UserBus"]


def undocumented(graph):
    inherits = {edge["source"] for edge in graph["relationships"] if "sourceOrigin" in edge}
    for symbol in graph["symbols"]:
        name = symbol["pathComponents"]
        if symbol["accessLevel"] not in ("public", "open") or symbol["identifier"]["precise"] in inherits:
            continue
        # Names with an underscore or a dollar sign, and synthesized symbols, come from the compiler.
        if name[-1].startswith(("_", "$")) or "::SYNTHESIZED::" in symbol["identifier"]["precise"]:
            continue
        if symbol["kind"]["identifier"] == "swift.enum.case":
            continue
        if not symbol.get("docComment", {}).get("lines"):
            yield ".".join(name)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    missing, count = [], 0
    for library in LIBRARIES:
        for path in sorted(folder.glob(f"{library}.symbols.json")) + sorted(folder.glob(f"{library}@*.symbols.json")):
            graph = json.loads(path.read_text())
            count += len(graph["symbols"])
            missing += [f"{library}: {name}" for name in undocumented(graph)]
    if count == 0:
        sys.exit(f"No symbol graph in {folder}. Run: swift package dump-symbol-graph")
    for line in missing:
        print(line, file=sys.stderr)
    if missing:
        sys.exit(f"{len(missing)} of {count} public symbols have no documentation.")
    print(f"{count} public symbols, all documented.", file=sys.stderr)


main()
