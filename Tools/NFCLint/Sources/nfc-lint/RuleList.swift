// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCLintEngine
import NFCLintRules

/// Prints the list of rules.
enum RuleList {
    static func print(json: Bool) throws {
        let lines = Rules.all.map { rule in
            guard !json else { return rule.json }
            let severity = rule.severity.rawValue.padding(toLength: 8, withPad: " ", startingAt: 0)
            return "\(rule.id.padding(toLength: 8, withPad: " ", startingAt: 0))\(severity)\(rule.title)"
        }
        try Console.print(lines.map { $0 + "\n" }.joined())
    }
}

/// Writes the documentation page of each rule.
enum RulePages {
    static func write(to folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for rule in Rules.all {
            let file = folder.appendingPathComponent("\(rule.id).md")
            try Data(RulePage(rule).markdown.utf8).write(to: file)
        }
    }
}
