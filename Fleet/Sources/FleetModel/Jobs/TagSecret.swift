// SPDX-License-Identifier: Apache-2.0

/// A tag password for a job: either the bytes, or the name of a file on the node.
package enum TagSecret: Sendable, Hashable {
    /// A password of four bytes and an acknowledgement (PACK) of two bytes.
    case bytes(password: [UInt8], acknowledgement: [UInt8])
    /// The name of a file in the node's secrets folder.
    case named(FleetName)

    /// Parses a secret file: the password's hexadecimal digits, then optionally white space and the acknowledgement's.
    ///
    /// - Returns: nil if the text is invalid.
    package init?(file text: String) {
        let parts = text.split(whereSeparator: \.isWhitespace).map { Hex.bytes(String($0)) }
        guard (1...2).contains(parts.count), let password = parts[0], password.count == 4,
            let acknowledgement = parts.count == 2 ? parts[1] : [0, 0], acknowledgement.count == 2
        else { return nil }
        self = .bytes(password: password, acknowledgement: acknowledgement)
    }
}

extension TagSecret: CustomStringConvertible, CustomDebugStringConvertible {
    /// Never shows the password.
    package var description: String {
        switch self {
        case .bytes: "a password, not shown"
        case .named(let name): "secret \(name)"
        }
    }

    package var debugDescription: String { description }
}
