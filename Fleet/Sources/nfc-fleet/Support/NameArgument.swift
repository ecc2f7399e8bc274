// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FleetModel

/// A node or reader name given on the command line.
struct NameArgument {
    let name: FleetName

    /// Parses a name for an argument's `transform`, so that errors explain what is allowed.
    static func parse(_ text: String) throws -> NameArgument {
        guard let name = FleetName(text) else {
            throw ValidationError("A name has 1 to \(FleetName.maximumLength) ASCII letters, digits, - and _.")
        }
        return NameArgument(name: name)
    }
}

/// A UID given on the command line: hexadecimal digits, optionally separated by `:` or `-`.
struct UIDArgument {
    let bytes: [UInt8]

    /// Parses a UID for an argument's `transform`.
    static func parse(_ text: String) throws -> UIDArgument {
        let digits = text.filter { $0 != ":" && $0 != "-" }
        guard let bytes = Hex.bytes(digits), (1...10).contains(bytes.count) else {
            throw ValidationError("A UID has 1 to 10 bytes in hexadecimal digits, such as 04689571fa5c64.")
        }
        return UIDArgument(bytes: bytes)
    }
}
