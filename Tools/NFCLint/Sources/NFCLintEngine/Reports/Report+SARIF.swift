// SPDX-License-Identifier: Apache-2.0

extension Report {
    /// The report as a SARIF 2.1.0 log.
    public var sarif: String { Reports([self]).sarif }

    fileprivate var sarifResults: [JSONOutput.Value] {
        let numbers = Dictionary(uniqueKeysWithValues: rules.enumerated().map { ($0.element.id, $0.offset) })
        return findings.map { sarifResult($0, numbers) }
    }

    private static func level(_ severity: Severity) -> String {
        switch severity {
        case .error: "error"
        case .warning: "warning"
        case .info: "note"
        }
    }

    fileprivate static func sarifRule(_ rule: Rule) -> JSONOutput.Value {
        .object([
            ("id", .text(rule.id)),
            ("shortDescription", .object([("text", .text(rule.title + "."))])),
            ("fullDescription", .object([("text", .text(rule.why))])),
            ("help", .object([("text", .text("\(rule.fix) More: \(rule.page)"))])),
            ("defaultConfiguration", .object([("level", .text(level(rule.severity)))])),
        ])
    }

    private func sarifResult(_ finding: Finding, _ numbers: [String: Int]) -> JSONOutput.Value {
        let position = finding.place.position
        let source = line(finding.place)
        let before = source.map { String(decoding: $0.utf8.prefix(max(0, position.column - 1)), as: UTF8.self) }
        let column = before.map { $0.unicodeScalars.count + 1 } ?? position.column
        let region = JSONOutput.Value.object([
            ("startLine", .number(max(1, position.line))), ("startColumn", .number(max(1, column))),
        ])
        let location = JSONOutput.Value.object([
            ("artifactLocation", .object([("uri", .text(Self.encoded(path(finding.place.path))))])), ("region", region),
        ])
        var members: [(String, JSONOutput.Value)] = [("ruleId", .text(finding.id))]
        if let number = numbers[finding.id] { members.append(("ruleIndex", .number(number))) }
        let print = "\(finding.id)/\(finding.place.path)/\(source?.trimmed ?? "")"
        members += [
            ("level", .text(Self.level(finding.severity))),
            ("message", .object([("text", .text("\(finding.message) \(finding.remedy)"))])),
            ("locations", .list([.object([("physicalLocation", location)])])),
            ("partialFingerprints", .object([("lineText/v1", .text(Self.hash(print)))])),
        ]
        return .object(members)
    }

    /// Converts a path to a relative URI.
    private static func encoded(_ path: String) -> String {
        let path = path.hasPrefix("./") ? String(path.dropFirst(2)) : path
        var result = path.hasPrefix("/") ? "file://" : ""
        for byte in path.utf8 {
            let character = Character(Unicode.Scalar(byte))
            if byte < 0x80, character.isLetter || character.isNumber || "/-._~".contains(character) {
                result.append(character)
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                result += "%" + (digits.count == 1 ? "0" : "") + digits
            }
        }
        return result
    }

    /// An FNV-1a hash in hexadecimal. Unlike Swift's own hashes, it is the same in every run.
    private static func hash(_ text: String) -> String {
        let value = text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return String(value, radix: 16)
    }
}

extension Reports {
    /// The reports as a SARIF 2.1.0 log.
    public var sarif: String {
        let driver = JSONOutput.Value.object([
            ("name", .text("nfc-lint")),
            ("version", .text(Linter.version)),
            ("rules", .list((all.first?.rules ?? []).map(Report.sarifRule))),
        ])
        return JSONOutput.line(
            .object([
                ("$schema", .text("https://json.schemastore.org/sarif-2.1.0.json")),
                ("version", .text("2.1.0")),
                (
                    "runs",
                    .list([
                        .object([
                            ("tool", .object([("driver", driver)])),
                            ("columnKind", .text("unicodeCodePoints")),
                            ("results", .list(all.flatMap(\.sarifResults))),
                        ])
                    ])
                ),
            ])
        )
    }
}
