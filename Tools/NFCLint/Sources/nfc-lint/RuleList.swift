// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCLintEngine
import NFCLintRules

/// Prints what rules there are.
enum RuleList {
    static func print(json: Bool) {
        for rule in Rules.all {
            if json {
                let parts = [
                    ("id", rule.id), ("severity", rule.severity.rawValue), ("title", rule.title), ("page", rule.page),
                ]
                let members = parts.map {
                    "\"\($0.0)\":\"\($0.1.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
                }
                Swift.print("{\(members.joined(separator: ","))}")
            } else {
                let severity = rule.severity.rawValue.padding(toLength: 8, withPad: " ", startingAt: 0)
                Swift.print("\(rule.id.padding(toLength: 8, withPad: " ", startingAt: 0))\(severity)\(rule.title)")
            }
        }
    }
}

/// Writes the pages of the documentation.
enum RulePages {
    static func write(to folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for rule in Rules.all {
            let file = folder.appendingPathComponent("\(rule.id).md")
            try Data(RulePage(rule).markdown.utf8).write(to: file)
        }
    }
}
