// SPDX-License-Identifier: Apache-2.0

/// Another owner of a name on the bus, as the bus reports it (D-Bus Specification 0.38, NameOwnerChanged).
package struct OwnerChange: Sendable, Hashable {
    /// The name.
    package var name: String
    /// The connection that owned the name; empty when none did.
    package var old: String
    /// The connection that owns the name now; empty when none does.
    package var new: String

    /// Reads a message.
    ///
    /// - Returns: nil when it does not report another owner, or does not come from the bus itself.
    package init?(_ message: ReceivedMessage) {
        guard message.sender == ReplyLedger.daemon,
            message.name == "org.freedesktop.DBus.NameOwnerChanged",
            let texts = message.arguments("sss")?.compactMap(\.text)
        else {
            return nil
        }
        (name, old, new) = (texts[0], texts[1], texts[2])
    }
}
