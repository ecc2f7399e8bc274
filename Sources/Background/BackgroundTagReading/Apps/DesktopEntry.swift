// SPDX-License-Identifier: Apache-2.0

/// The keys of a desktop entry that are used here, from the group `Desktop Entry` (Desktop Entry Specification 1.5).
public struct DesktopEntry: Sendable, Hashable {
    /// The maximum size of a file in bytes.
    public static let maximumSize = 256 << 10

    /// The app's name, not localized.
    public var name: String
    /// Whether D-Bus starts the app.
    public var isBusActivated: Bool
    /// The schemes in `MimeType`, in lower case, without those that no app may claim.
    public var schemes: [String]
    /// `Exec`, the command that starts the app. ``StartCommand`` parses it.
    public var command: String?
    /// `TryExec`: a program that must exist. If it is missing, the app is not installed.
    public var neededProgram: String?
    /// `Path`: the folder in which to start the app.
    public var folder: String?
    /// `Icon`.
    public var icon: String?
    /// Whether the app needs a terminal.
    public var needsTerminal: Bool
    /// Whether `Implements` contains ``DeliveryInterface/name``, so the app receives links with messages over D-Bus.
    public var takesMessages: Bool

    /// Reads an entry; nil when it is too large, is hidden, or does not describe an application.
    public init?(parsing bytes: [UInt8]) {
        let group = "Desktop Entry"
        guard let file = KeyFile(parsing: bytes), file.value("Type", in: group) == "Application",
            file.value("Hidden", in: group) != "true", let name = file.value("Name", in: group)
        else { return nil }
        self.name = DisplayText.plain(name, limit: 60)
        isBusActivated = file.value("DBusActivatable", in: group) == "true"
        schemes = file.list("MimeType", in: group).compactMap { type in
            guard type.hasPrefix("x-scheme-handler/") else { return nil }
            let scheme = type.dropFirst(17).lowercased()
            return LinkScheme.isCustom(scheme) ? scheme : nil
        }
        command = file.string("Exec", in: group)
        neededProgram = file.string("TryExec", in: group)
        folder = file.string("Path", in: group)
        icon = file.string("Icon", in: group)
        needsTerminal = file.value("Terminal", in: group) == "true"
        takesMessages = file.list("Implements", in: group).contains(DeliveryInterface.name)
    }

    /// Returns whether a string can be the name of both a desktop entry and a bus: letters, digits, `-` and `_`,
    /// separated by periods.
    public static func isName(_ text: String) -> Bool {
        let elements = text.split(separator: ".", omittingEmptySubsequences: false)
        return text.utf8.count <= 200
            && elements.allSatisfy { element in
                !element.isEmpty
                    && element.utf8.allSatisfy { byte in
                        switch byte {
                        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
                        default: false
                        }
                    }
            }
    }
}

/// A file with keys in groups, such as a desktop entry or a list of default apps (Desktop Entry Specification 1.5, 3).
package struct KeyFile: Sendable {
    private var groups: [Substring: [Substring: Substring]] = [:]

    /// Reads a file; nil when it is too large or not text.
    package init?(parsing bytes: [UInt8]) {
        guard bytes.count <= DesktopEntry.maximumSize, let text = String(validating: bytes, as: UTF8.self) else {
            return nil
        }
        var group: Substring?
        for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
            if line.hasPrefix("[") {
                group = line.dropFirst().prefix { $0 != "]" }
            } else if let group, let mark = line.firstIndex(of: "=") {
                // If a key occurs twice, its first value is used.
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

    package func list(_ key: String, in group: String) -> [String] {
        (value(key, in: group) ?? "").split(separator: ";").prefix(1000).map(String.init)
    }

    /// Returns the value with its escapes replaced: `\s`, `\n`, `\t`, `\r` and `\\`.
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
            // Other escapes are for Exec. Such entries should double the backslash, so it is kept.
            default: result += "\\" + String(character)
            }
        }
        return isEscaped ? result + "\\" : result
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var text = self
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
