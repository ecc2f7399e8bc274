// SPDX-License-Identifier: Apache-2.0

/// A tag's password in a job: the bytes, or the name of a file on the node.
package enum TagSecret: Sendable, Hashable {
    /// Four bytes of password and two bytes of acknowledgement.
    case bytes(password: [UInt8], acknowledgement: [UInt8])
    /// The name of a file in the node's folder of secrets.
    case named(FleetName)

    /// Reads a file of a secret: the digits of the password, and after white space those of the acknowledgement.
    ///
    /// - Returns: nil when the text is something else.
    package init?(file text: String) {
        let parts = text.split(whereSeparator: \.isWhitespace).map { Hex.bytes(String($0)) }
        guard (1...2).contains(parts.count), let password = parts[0], password.count == 4,
            let acknowledgement = parts.count == 2 ? parts[1] : [0, 0], acknowledgement.count == 2
        else { return nil }
        self = .bytes(password: password, acknowledgement: acknowledgement)
    }
}

extension TagSecret: CustomStringConvertible, CustomDebugStringConvertible {
    /// A password is never shown.
    package var description: String {
        switch self {
        case .bytes: "a password, not shown"
        case .named(let name): "secret \(name)"
        }
    }

    package var debugDescription: String { description }
}
