// SPDX-License-Identifier: Apache-2.0

/// The parsed command from a desktop entry's `Exec` (Desktop Entry Specification 1.5, 7): the arguments for starting a
/// program. No shell is used, and a command that needs a shell is rejected.
public struct StartCommand: Sendable, Hashable {
    private enum Part: Sendable, Hashable {
        case text(String)
        case code(Character)
    }

    private let words: [[Part]]

    /// The program: an absolute path, or a name to find in the folders of `PATH`.
    public let program: String

    /// Whether the command has a placeholder for a URI: `%u` or `%U`.
    public var takesURI: Bool {
        words.contains { word in word.contains(.code("u")) || word.contains(.code("U")) }
    }

    /// Parses the value of `Exec`, with its escapes already replaced. Throws ``AppError``.
    public init(parsing text: String) throws(AppError) {
        guard text.utf8.count <= 1 << 14 else { throw AppError("Exec is too long.") }
        var words: [[Part]] = []
        var rest = text.unicodeScalars[...]
        while let first = rest.first {
            if first == " " {
                rest.removeFirst()
            } else if first == "\"" {
                words.append(try Self.quoted(&rest))
            } else {
                words.append(try Self.plain(&rest))
            }
        }
        guard case .text(let program)? = words.first?.first, words.first?.count == 1, !program.contains("="),
            program.hasPrefix("/") || !program.contains("/")
        else { throw AppError("Exec does not begin with the path or the name of a program.") }
        guard words.joined().count(where: { ["f", "F", "u", "U"].map(Part.code).contains($0) }) <= 1 else {
            throw AppError("Exec has more than one of %f, %F, %u and %U.", isAmbiguous: true)
        }
        self.words = words
        self.program = program
    }

    /// Parses a quoted argument. Only the percent sign and the backslash are special in it.
    private static func quoted(_ rest: inout Substring.UnicodeScalarView) throws(AppError) -> [Part] {
        var text = ""
        rest.removeFirst()
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\"":
                guard rest.first == nil || rest.first == " " else {
                    throw AppError("Exec has an argument that is quoted in part; quote the whole argument.")
                }
                return [.text(text)]
            case "\\":
                guard let next = rest.popFirst(), "\"`$\\".unicodeScalars.contains(next) else {
                    throw AppError("Exec has a backslash that escapes nothing.")
                }
                text.unicodeScalars.append(next)
            case "%":
                guard rest.popFirst() == "%" else { throw AppError("Exec has a field code in quotation marks.") }
                text += "%"
            case "\0": throw AppError("Exec has a zero byte, which no argument can contain.")
            default: text.unicodeScalars.append(scalar)
            }
        }
        throw AppError("Exec has a quotation mark that is not closed.")
    }

    private static func plain(_ rest: inout Substring.UnicodeScalarView) throws(AppError) -> [Part] {
        var parts: [Part] = []
        var text = ""
        while let scalar = rest.first, scalar != " " {
            rest.removeFirst()
            guard scalar == "%" else {
                guard scalar.value >= 0x20, !"\"'\\><~|&;$*?#()`\u{7F}".unicodeScalars.contains(scalar) else {
                    throw AppError(
                        "Exec has the character \(scalar.escaped(asASCII: true)) outside of quotation marks."
                    )
                }
                text.unicodeScalars.append(scalar)
                continue
            }
            guard let code = rest.popFirst(), "%fFuUickdDnNvm".unicodeScalars.contains(code) else {
                throw AppError("Exec has a field code that is not in the Desktop Entry Specification.")
            }
            if code == "%" {
                text += "%"
                continue
            }
            if !text.isEmpty { parts.append(.text(text)) }
            text = ""
            parts.append(.code(Character(code)))
        }
        if !text.isEmpty { parts.append(.text(text)) }
        let isAlone = parts.count == 1
        guard isAlone || !parts.contains(where: { ["F", "U", "i"].map(Part.code).contains($0) }) else {
            throw AppError("Exec has %F, %U or %i as a part of an argument.")
        }
        return parts
    }

    /// Returns the program and its arguments, in the order in which to pass them.
    ///
    /// - Parameters:
    ///   - uri: the replacement for `%u` or `%U`; nil removes them.
    ///   - entry: the desktop entry.
    ///   - path: the path of the entry.
    public func arguments(uri: String?, entry: DesktopEntry, path: String) -> [String] {
        var result: [String] = []
        for word in words {
            if word == [.code("i")] {
                if let icon = entry.icon { result += ["--icon", icon] }
                continue
            }
            var text = ""
            for part in word {
                switch part {
                case .text(let own): text += own
                case .code("u"), .code("U"): text += uri ?? ""
                case .code("c"): text += entry.name
                case .code("k"): text += path
                // A link is not a file, so file codes are removed. The other codes are deprecated.
                case .code: break
                }
            }
            let isCode = word.allSatisfy { if case .code = $0 { true } else { false } }
            if !text.isEmpty || !isCode { result.append(text) }
        }
        return result
    }
}
