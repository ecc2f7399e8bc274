// SPDX-License-Identifier: Apache-2.0
import TagLink
import TextSafety

/// A link that the phone's background reading opens in this app.
package struct SimulatorLinkEvent: Sendable, Hashable {
    /// The type of the activity.
    package var activityType: String
    /// The link.
    package var url: String
    /// The bytes of the tag's message.
    package var message: [UInt8]

    /// Reads an event; nil when it is not complete.
    init?(_ line: JSONLine) {
        guard let type = line.string("activity_type"), let url = line.string("url"),
            case .string(let digits)? = line["message_hex"], let message = [UInt8](hexadecimal: digits)
        else { return nil }
        (activityType, self.url, self.message) = (type, url, message)
    }
}
