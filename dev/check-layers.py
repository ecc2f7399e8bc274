#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each target imports only what the design allows, and that each file names its licence.

The targets below CoreNFC do without Foundation; drivers and tag protocols know nothing of each other; the sample app
imports what an app on a phone could import, and what its text interface needs.
"""
import pathlib
import re
import sys

# Modules that come with the compiler, except Foundation.
SYSTEM = {"Swift", "Synchronization", "Dispatch", "Glibc"}
ALLOWED = {
    "Sources/Contract/NDEF": set(),
    "Sources/Contract/TagLink": {"Glibc"},
    "Sources/Support/VisibleText": set(),
    "Sources/Support/SystemLibrary": {"CSystemCalls", "Dispatch", "Glibc", "Synchronization"},
    "Sources/Support/CardCryptography": {"CLibCrypto", "SystemLibrary"},
    "Sources/Background/UniversalLinks": {"Foundation"},
    "Sources/Background/BackgroundTagReading": {"Foundation", "NDEF", "UniversalLinks", "VisibleText"},
    "Sources/Support/PrivateStorage": {"CSystemCalls", "Glibc", "SystemLibrary"},
    "Sources/Background/LinkFetching": {
        "CCurl", "CLibCrypto", "Foundation", "Glibc", "PrivateStorage", "UniversalLinks",
    },
    "Sources/Tools/nfc": {
        "ArgumentParser", "BackgroundTagReading", "Foundation", "LinkDelivery", "LinkFetching", "NDEF",
        "NFCReaders", "NFCRuntime", "PrivateStorage", "ReaderEmulation", "SystemLibrary", "TagLink", "TagProtocols", "TagTrace",
        "UniversalLinks", "UserBus", "TagImages", "VirtualCards", "VirtualTags", "VisibleText",
    } | SYSTEM,
    "Sources/Tools/nfcd": {
        "BackgroundTagReading", "Dispatch", "Foundation", "Glibc", "LinkDelivery", "LinkFetching",
        "NFCReaders", "NFCRuntime", "PrivateStorage", "SystemLibrary", "TagLink", "TagTrace", "UserBus", "VisibleText",
    },
    "Sources/Background/UserBus": {"BackgroundTagReading", "CSDBus", "Glibc", "PrivateStorage", "SystemLibrary"},
    "Sources/Background/LinkDelivery": {
        "BackgroundTagReading", "Dispatch", "Foundation", "Glibc", "LinkFetching", "PrivateStorage",
        "SystemLibrary", "UserBus",
    },
    "Sources/Tags/TagProtocols": {"CardCryptography", "NDEF", "TagLink"},
    "Sources/Tags/TagTrace": {"PrivateStorage", "SystemLibrary", "TagLink", "VisibleText"},
    "Sources/Parts/VirtualTags": {"CardCryptography", "TagLink"},
    "Sources/Parts/VirtualCards": {"CardCryptography", "NDEF", "TagLink", "VirtualTags"},
    "Sources/Parts/TagImages": {"TagLink", "VirtualCards", "VirtualTags", "VisibleText"},
    "Sources/Parts/PCSCDriver": {"SystemLibrary", "TagLink", "Glibc"},
    "Sources/Parts/PN532Driver": {"SystemLibrary", "TagLink", "Dispatch", "Glibc"},
    "Sources/Parts/ReaderEmulation": {"CSystemCalls", "PrivateStorage", "SystemLibrary", "TagLink", "TagProtocols", "TagTrace"} | SYSTEM,
    "Sources/Parts/NFCRuntime": {"SystemLibrary", "TagLink", "TagProtocols", "VisibleText"} | SYSTEM,
    "Sources/Composition/NFCReaders": {
        "NFCRuntime", "PCSCDriver", "PN532Driver", "PrivateStorage", "ReaderEmulation", "SystemLibrary", "TagLink",
        "TagProtocols", "TagTrace", "TagImages", "VirtualCards", "VirtualTags", "VisibleText",
    } | SYSTEM,
    "Sources/Framework/CoreNFC": {
        "NDEF", "TagLink", "NFCReaders", "NFCRuntime", "PrivateStorage", "SystemLibrary", "TagProtocols", "VisibleText",
        "Foundation",
    } | SYSTEM,
    "Sources/Framework/UserActivityReceiving": {"BackgroundTagReading", "CoreNFC", "Dispatch", "Foundation", "UserBus"},
    "Sources/Framework/NFCTestKit": {
        "Foundation", "NDEF", "TagLink", "TagProtocols", "TagTrace", "TagImages", "VirtualCards", "VirtualTags", "NFCReaders", "NFCRuntime", "PrivateStorage",
        "SystemLibrary", "Testing",
    } | SYSTEM,
    "Tools/NFCLint/Sources/NFCLintEngine": {"Foundation", "SwiftOperators", "SwiftParser", "SwiftSyntax"},
    "Tools/NFCLint/Sources/NFCLintRules": {"Foundation", "NDEF", "NFCLintEngine", "SwiftSyntax", "UniversalLinks"},
    "Tools/NFCLint/Sources/Tools/nfc-lint": {"ArgumentParser", "Foundation", "NFCLintEngine", "NFCLintRules"},
    "Examples/TagReader": {
        "CoreNFC", "Foundation", "Glibc", "Synchronization", "UserActivityReceiving", "VisibleText",
    },
    "Examples/FirstScan": {"CoreNFC", "Foundation"},
}
IMPORT = re.compile(r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:public |package |internal |private |fileprivate )?"
                    r"import (?:struct |class |enum |func |var |let |protocol |typealias )?(\w+)", re.MULTILINE)
LICENCE = "// SPDX-License-Identifier: Apache-2.0"


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    problems = []
    for folder, allowed in ALLOWED.items():
        for path in sorted((root / folder).rglob("*.swift")):
            for module in IMPORT.findall(path.read_text()):
                if module not in allowed:
                    problems.append(f"{path.relative_to(root)}: {folder} may not import {module}.")
    for folder in ["Sources", "Tests", "Examples", "IntegrationTests/Sources", "IntegrationTests/Tests",
                   "Tools/NFCLint"]:
        for path in sorted((root / folder).rglob("*.swift")):
            if ".build" in path.parts:
                continue
            lines = path.read_text().splitlines()
            # A manifest begins with its tools version.
            if lines[path.name == "Package.swift":][:1] != [LICENCE]:
                problems.append(f"{path.relative_to(root)}: the first line is not '{LICENCE}'.")
            if len(lines) > 400:
                problems.append(f"{path.relative_to(root)}: {len(lines)} lines; look for the second concern.")
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)


main()
