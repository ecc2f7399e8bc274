// SPDX-License-Identifier: Apache-2.0

/// The build settings of a configuration, from the project, `.xcconfig` files and the target. Later settings override.
struct BuildSettings: Sendable {
    /// The maximum size of a value, including what it inherits, in bytes.
    private static let longestValue = 10_000

    private var values: [String: Setting] = [:]

    /// Adds settings that override earlier ones. Conditions such as `[sdk=iphoneos*]` must be met on phones.
    mutating func add(_ settings: [(key: String, value: String, place: Place)]) {
        var conditional: Set<String> = []
        for setting in settings {
            var key = setting.key
            if let bracket = key.firstIndex(of: "[") {
                let condition = key[bracket...]
                guard condition.contains("sdk=iphoneos") || condition.contains("sdk=*") else { continue }
                key = String(key[..<bracket])
                conditional.insert(key)
            } else if conditional.contains(key) {
                continue
            }
            values[key] = Setting(Self.value(setting.value, inheriting: values[key]?.value ?? ""), setting.place)
        }
    }

    /// Replaces `$(inherited)` by the earlier value. A value that is too long stays unchanged, because values that
    /// inherit twice at each level would grow without limit.
    private static func value(_ text: String, inheriting inherited: String) -> String {
        guard text.utf8.count <= longestValue else { return text }
        let value = text.replacing("$(inherited)", with: inherited).replacing("${inherited}", with: inherited)
        return value.utf8.count <= longestValue ? value : text
    }

    var keys: [String] { values.keys.sorted() }

    /// A setting with its variables resolved; nil if the setting is missing.
    func setting(_ key: String) -> Setting? {
        values[key].map { Setting(resolve($0.value, depth: 0), $0.place) }
    }

    func value(_ key: String) -> String? { setting(key)?.value }

    /// Whether the linker's flags make Core NFC optional at launch.
    var linksCoreNFCWeakly: Bool {
        let words = (value("OTHER_LDFLAGS") ?? "").split { " ,\"\\".contains($0) }
        return zip(words, words.dropFirst()).contains { $0 == "-weak_framework" && $1 == "CoreNFC" }
    }

    /// Replaces variables by their values. Unknown variables stay as they are.
    func resolve(_ text: String, depth: Int = 0) -> String {
        guard depth < 8, text.contains("$"), text.utf8.count < 10_000 else { return text }
        var result = ""
        var rest = text[...]
        while let dollar = rest.firstIndex(of: "$") {
            result += rest[..<dollar]
            rest = rest[dollar...]
            guard let open = rest.dropFirst().first, open == "(" || open == "{",
                let end = rest.firstIndex(of: open == "(" ? ")" : "}")
            else {
                result += "$"
                rest = rest.dropFirst()
                continue
            }
            let whole = rest[...end]
            let name = whole.dropFirst(2).dropLast().prefix { $0 != ":" }
            if let value = values[String(name)]?.value, !value.contains(whole) {
                result += resolve(value, depth: depth + 1)
            } else {
                result += whole
            }
            rest = rest[rest.index(after: end)...]
            // Variables that double each other's values could grow without limit, so such values stay unresolved.
            guard result.utf8.count < 4096 else { return text }
        }
        return result + rest
    }
}

/// Parses `.xcconfig` files.
struct ConfigurationFile {
    let reader: ConfigReader
    let lookup: PathLookup

    /// The maximum size of a file and its includes, and the minimum size that each file counts for. Limits files that
    /// include each other many times.
    private static let (maximumBytes, minimumBytes) = (32 << 20, 32 << 10)

    /// The settings of a file, after those of the files that it includes.
    func settings(_ path: String) -> [(key: String, value: String, place: Place)] {
        var left = Self.maximumBytes
        return settings(path, depth: 0, &left)
    }

    private func settings(
        _ path: String,
        depth: Int,
        _ left: inout Int
    ) -> [(key: String, value: String, place: Place)] {
        guard depth < 8, left > 0, let path = lookup.find(path), let bytes = reader.bytes(path) else { return [] }
        left -= max(bytes.count, Self.minimumBytes)
        var result: [(key: String, value: String, place: Place)] = []
        for (number, raw) in TextLines.read(bytes).enumerated() {
            let line = Self.withoutComment(raw)
            if line.hasPrefix("#include") {
                let name = line.split(separator: "\"").dropFirst().first.map(String.init) ?? ""
                result += settings(PathLookup.join(PathLookup.folder(path), name), depth: depth + 1, &left)
                continue
            }
            guard let equals = Self.separator(line) else { continue }
            let key = String(line[..<equals]).trimmed
            // Xcode ignores semicolons at the end.
            var value = String(line[line.index(after: equals)...]).trimmed
            while value.hasSuffix(";") { value = String(value.dropLast()).trimmed }
            result.append((key, value, Place(path, Position(line: number + 1))))
        }
        return result
    }

    private static func withoutComment(_ line: String) -> String {
        // In a value, `//` begins a comment, even in a URL.
        (line.firstRange(of: "//").map { line[..<$0.lowerBound] } ?? line[...]).trimmed
    }

    /// The equals sign after the key. Equals signs in bracketed conditions don't count.
    private static func separator(_ line: String) -> String.Index? {
        var depth = 0
        for index in line.indices {
            switch line[index] {
            case "[": depth += 1
            case "]": depth -= 1
            case "=" where depth == 0: return index
            default: break
            }
        }
        return nil
    }
}

extension StringProtocol {
    /// The text without whitespace at both ends.
    var trimmed: String {
        var part = self[...]
        while let first = part.first, first.isWhitespace { part = part.dropFirst() }
        while let last = part.last, last.isWhitespace { part = part.dropLast() }
        return String(part)
    }
}
