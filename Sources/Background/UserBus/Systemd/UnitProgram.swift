// SPDX-License-Identifier: Apache-2.0

/// A program that the user's systemd is to start, as a service unit that goes when the program has ended.
public struct UnitProgram: Sendable {
    /// The unit's name, with `.service`.
    public var unit: String
    /// What people see in lists of units.
    public var description: String
    /// The program's absolute path.
    public var path: String
    /// Its words, its name first.
    public var arguments: [String]
    /// Where it runs.
    public var folder: String
    /// Its variables. Those of systemd's own stay where none of that name is here.
    public var environment: [String: String]

    /// Describes a program.
    ///
    /// - Parameters:
    ///   - path: the program's absolute path.
    ///   - arguments: its words, its name first.
    ///   - app: the name of the app's desktop entry, or of the program; the unit's name has it.
    ///   - folder: where it runs.
    ///   - environment: its variables. Those that systemd refuses are left out: a name with anything but letters, digits and
    ///     `_`, or a value with control characters.
    public init(
        _ path: String,
        _ arguments: [String],
        app: String,
        folder: String,
        environment: [String: String]
    ) {
        let number = UInt32.random(in: 0...UInt32.max)
        unit = "app-nfc-\(Self.escaped(app))-\(String(number, radix: 16)).service"
        description = "\(app), opened by a tag"
        self.path = path
        self.arguments = arguments
        self.folder = folder
        self.environment = environment.filter { name, value in Self.isName(name) && Self.isValue(value) }
    }

    /// A part of a unit's name: a hyphen has a meaning there (systemd.unit(5)).
    private static func escaped(_ text: String) -> String {
        text.utf8.prefix(60).map { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F: String(UnicodeScalar(byte))
            case 0x2E: "."
            default: "\\x" + String(256 + Int(byte), radix: 16).dropFirst()
            }
        }.joined()
    }

    private static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, !(0x30...0x39).contains(first) else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F: true
            default: false
            }
        }
    }

    private static func isValue(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F || $0 == "\t" || $0 == "\n" }
    }

    /// The words as systemd takes them: it puts variables in place of a dollar sign and a name, and a dollar sign in place
    /// of two (systemd.service(5), Command lines).
    var escapedArguments: [String] { arguments.map { $0.replacing("$", with: "$$") } }
}
