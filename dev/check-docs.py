# SPDX-License-Identifier: Apache-2.0
"""Lists the public symbols that have no documentation, and those that no library needs to be public.

Usage: python3 dev/check-docs.py FOLDER MANIFEST, with what 'swift package dump-symbol-graph' and 'swift package dump-package'
wrote. The libraries are the library products of the manifest. A target that is in none of them uses 'package' access; only a
type that a public declaration of a library names may be public there.

A symbol that implements a documented requirement of a protocol inherits its text, and needs none of its own; a case is part of
its enumeration, whose text speaks for the cases that their names explain.
"""
import json
import pathlib
import sys


class Module:
    """The public symbols of a target, and the texts they inherit."""

    def __init__(self, name, folder):
        self.name = name
        paths = sorted(folder.glob(f"{name}.symbols.json")) + sorted(folder.glob(f"{name}@*.symbols.json"))
        graphs = [json.loads(path.read_text()) for path in paths]
        self.symbols = [symbol for graph in graphs for symbol in graph["symbols"] if symbol["accessLevel"] in ("public", "open")]
        self.inherits = {edge["source"] for graph in graphs for edge in graph["relationships"] if "sourceOrigin" in edge}

    def undocumented(self):
        for symbol in self.symbols:
            name, precise = symbol["pathComponents"], symbol["identifier"]["precise"]
            # Names with an underscore or a dollar sign, and synthesized symbols, come from the compiler.
            if precise in self.inherits or name[-1].startswith(("_", "$")) or "::SYNTHESIZED::" in precise:
                continue
            if symbol["kind"]["identifier"] == "swift.enum.case":
                continue
            if not symbol.get("docComment", {}).get("lines"):
                yield ".".join(name)

    def named(self, types=None):
        """The identifiers that declarations name: all declarations, or those of the given top-level types."""
        return {
            fragment["preciseIdentifier"]
            for symbol in self.symbols if types is None or symbol["pathComponents"][0] in types
            for fragment in symbol.get("declarationFragments", []) if "preciseIdentifier" in fragment
        }

    def top_level(self, identifiers):
        """The top-level types that have one of the identifiers, or contain a type that has one."""
        return {symbol["pathComponents"][0] for symbol in self.symbols if symbol["identifier"]["precise"] in identifiers}


def exposed(libraries, others):
    """The top-level types of each other module that are part of a library's interface."""
    named = set().union(*(module.named() for module in libraries))
    while True:
        types = {module.name: module.top_level(named) for module in others}
        more = named.union(*(module.named(types[module.name]) for module in others))
        if more == named:
            return types
        named = more


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder, manifest = pathlib.Path(sys.argv[1]), json.loads(pathlib.Path(sys.argv[2]).read_text())
    names = {name for product in manifest["products"] if "library" in product["type"] for name in product["targets"]}
    kinds = {target["name"]: target["type"] for target in manifest["targets"]}
    libraries = [Module(name, folder) for name in sorted(names)]
    others = [Module(name, folder) for name in sorted(kinds) if kinds[name] == "regular" and name not in names]
    count = sum(len(module.symbols) for module in libraries + others)
    if not names or count == 0:
        sys.exit(f"No symbols of libraries in {folder}. Run: swift package dump-symbol-graph")
    types = exposed(libraries, others)
    needless = sorted({
        f"{module.name}: {'.'.join(symbol['pathComponents'])}"
        for module in others for symbol in module.symbols if symbol["pathComponents"][0] not in types[module.name]
    })
    missing = [f"{module.name}: {name}" for module in libraries + others for name in module.undocumented()]
    for line in needless:
        print(f"{line} is public, but no library names it. Make it 'package'.", file=sys.stderr)
    for line in missing:
        print(f"{line} has no documentation.", file=sys.stderr)
    if needless or missing:
        sys.exit(f"Of {count} public symbols, {len(needless)} need not be public and {len(missing)} have no documentation.")
    print(f"{count} public symbols of {len(libraries)} libraries, all documented.", file=sys.stderr)


main()
