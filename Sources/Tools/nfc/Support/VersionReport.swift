// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinuxSupport
import TextSafety

/// What `nfc --version` prints: the version, the commit, and the system's libraries that are opened when needed.
enum VersionReport {
    /// The libraries, each with the older or other one that does too.
    private static let libraries = [
        ["libpcsclite.so.1"], ["libcurl.so.4", "libcurl-gnutls.so.4"], ["libsystemd.so.0"],
        ["libcrypto.so.3", "libcrypto.so.1.1"],
    ]

    /// The commit that the programs were built from. `dev/package` writes it to a file next to them.
    private static var commit: String? {
        let file = ProgramPath.ownFolder.flatMap { try? String(contentsOfFile: $0 + "/commit", encoding: .utf8) }
        return file.map { VisibleText.escaped($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }

    static func print(json: Bool) {
        let found = libraries.compactMap { names in names.first { SystemLibrary($0) != nil } }
        let missing = libraries.filter { !$0.contains(where: found.contains) }.compactMap(\.first)
        let object: JSONObject = [
            "ok": true, "version": ProjectVersion.current, "commit": commit, "libraries": found, "missing": missing,
        ]
        var lines = ["nfc \(ProjectVersion.current)" + (commit.map { " (commit \($0))" } ?? "")]
        if !found.isEmpty { lines.append("Libraries found: \(found.joined(separator: ", "))") }
        if !missing.isEmpty { lines.append("Libraries that are not installed: \(missing.joined(separator: ", "))") }
        printResult(json: json, object, lines)
    }
}
