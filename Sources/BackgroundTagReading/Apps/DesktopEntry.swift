// SPDX-License-Identifier: Apache-2.0

/// What is needed of a desktop entry (Desktop Entry Specification 1.5): the keys of its first group.
public struct DesktopEntry: Sendable, Hashable {
    /// The largest file that is read, in octets.
    public static let maximumSize = 256 << 10

    /// The app's name, without a language.
    public var name: String
    /// Whether the bus starts the app.
    public var isBusActivated: Bool
    /// The schemes of `MimeType`, in lower case, without those that are never an app's own.
    public var schemes: [String]

    /// Reads an entry.
    ///
    /// - Parameter octets: the file.
    /// - Returns: nil when it is no entry of an application, is too large, or is hidden.
    public init?(parsing octets: [UInt8]) {
        guard octets.count <= Self.maximumSize, let text = String(validating: octets, as: UTF8.self) else { return nil }
        var values: [Substring: Substring] = [:]
        var isInside = false
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("[") {
                if isInside { break }
                isInside = line.hasPrefix("[Desktop Entry]")
                continue
            }
            guard isInside, !line.hasPrefix("#"), let mark = line.firstIndex(of: "=") else { continue }
            let key = line[..<mark].trimmed
            if values[key] == nil { values[key] = line[line.index(after: mark)...].trimmed }
        }
        guard values["Type"] == "Application", values["Hidden"] != "true", let name = values["Name"], !name.isEmpty
        else {
            return nil
        }
        self.name = DisplayText.plain(String(name), limit: 60)
        isBusActivated = values["DBusActivatable"] == "true"
        schemes = (values["MimeType"] ?? "").split(separator: ";").prefix(1000).compactMap { type in
            guard type.hasPrefix("x-scheme-handler/") else { return nil }
            let scheme = type.dropFirst(17).lowercased()
            return LinkScheme.isCustom(scheme) ? scheme : nil
        }
    }

    /// Whether a text can be the name of a desktop entry and of a bus: letters, digits, `-`, `_` and periods between.
    public static func isName(_ text: String) -> Bool {
        let elements = text.split(separator: ".", omittingEmptySubsequences: false)
        return text.utf8.count <= 200
            && elements.allSatisfy { element in
                !element.isEmpty
                    && element.utf8.allSatisfy { octet in
                        switch octet {
                        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
                        default: false
                        }
                    }
            }
    }
}

extension Substring {
    /// The text without spaces and tabs at its ends.
    fileprivate var trimmed: Substring {
        var text = self
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
