// SPDX-License-Identifier: Apache-2.0

/// A program for the user's systemd to start, as a service unit that is removed when the program ends.
package struct UnitProgram: Sendable {
    /// The unit's name, with `.service`.
    package var unit: String
    /// The text in lists of units.
    package var description: String
    /// The program's absolute path.
    package var path: String
    /// Its arguments, starting with its name.
    package var arguments: [String]
    /// Its working directory.
    package var folder: String
    /// Its variables. systemd adds its own ones, unless they have the same name.
    package var environment: [String: String]

    /// Creates a description of a program.
    ///
    /// - Parameters:
    ///   - path: the program's absolute path.
    ///   - arguments: its arguments, starting with its name.
    ///   - app: the name of the app's desktop entry, or of the program. It becomes part of the unit's name.
    ///   - folder: its working directory.
    ///   - environment: its variables. Those that systemd rejects are left out: names with anything but letters, digits
    ///     and `_`, and values with control characters.
    package init(
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

    /// Escapes a part of a unit's name, because a hyphen has a meaning there (systemd.unit(5)).
    /// With 57 bytes that all need it, the name of the unit has 253, and it may have 255.
    private static func escaped(_ text: String) -> String {
        text.utf8.prefix(57).map { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F: String(UnicodeScalar(byte))
            case 0x2E: "."
            default: "\\x" + String(256 + Int(byte), radix: 16).dropFirst()
            }
        }.joined()
    }

    private static func isName(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.enumerated().allSatisfy { index, byte in
                switch byte {
                case 0x41...0x5A, 0x61...0x7A, 0x5F: true
                case 0x30...0x39: index > 0
                default: false
                }
            }
    }

    private static func isValue(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F || $0 == "\t" || $0 == "\n" }
    }

    /// The arguments in systemd's syntax: it replaces a dollar sign and a name with a variable, and two dollar signs
    /// with one (systemd.service(5), Command lines).
    var escapedArguments: [String] { arguments.map { $0.replacing("$", with: "$$") } }
}
