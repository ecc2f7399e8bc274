// SPDX-License-Identifier: Apache-2.0

/// A file with keys in groups, such as a desktop entry or a list of default apps (Desktop Entry Specification 1.5, 3).
package struct KeyFile: Sendable {
    private var groups: [Substring: [Substring: Substring]] = [:]

    /// Reads a file. Returns nil when it is too large or not text.
    package init?(parsing bytes: [UInt8]) {
        guard bytes.count <= DesktopEntry.maximumSize, let text = String(validating: bytes, as: UTF8.self) else {
            return nil
        }
        var group: Substring?
        for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
            if line.hasPrefix("[") {
                group = line.dropFirst().prefix { $0 != "]" }
            } else if let group, let mark = line.firstIndex(of: "=") {
                // When a key occurs twice, the first one is used.
                let key = line[..<mark].trimmed
                if groups[group]?[key] == nil {
                    groups[group, default: [:]][key] = line[line.index(after: mark)...].trimmed
                }
            }
        }
    }

    /// Returns the value of a key as written; nil when it is missing or empty.
    package func value(_ key: String, in group: String) -> String? {
        groups[group[...]]?[key[...]].flatMap { $0.isEmpty ? nil : String($0) }
    }

    /// Returns the elements of a list value.
    package func list(_ key: String, in group: String) -> [String] {
        (value(key, in: group) ?? "").split(separator: ";").prefix(1000).map(String.init)
    }

    /// Returns a value with its escapes replaced: `\s`, `\n`, `\t`, `\r` and `\\`.
    package func string(_ key: String, in group: String) -> String? {
        guard let text = value(key, in: group) else { return nil }
        var result = ""
        var isEscaped = false
        for character in text {
            guard isEscaped else {
                isEscaped = character == "\\"
                if !isEscaped { result.append(character) }
                continue
            }
            isEscaped = false
            switch character {
            case "s": result.append(" ")
            case "n": result.append("\n")
            case "t": result.append("\t")
            case "r": result.append("\r")
            case "\\": result.append("\\")
            // Existing entries escape characters only for Exec, where the backslash should have been written twice.
            default: result += "\\" + String(character)
            }
        }
        return isEscaped ? result + "\\" : result
    }
}

extension Substring {
    /// The text without spaces and tabs at its start and end.
    fileprivate var trimmed: Substring {
        var text = self
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
