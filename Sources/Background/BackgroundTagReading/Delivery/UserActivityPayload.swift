// SPDX-License-Identifier: Apache-2.0
import Foundation
import NDEF

/// The data about a tag that an app receives for its `NSUserActivity`, in the form that is sent between processes.
public struct UserActivityPayload: Sendable, Hashable {
    /// The activity type of a link, as Foundation names it on Apple's platforms.
    public static let browsingWeb = "NSUserActivityTypeBrowsingWeb"
    /// The largest message, in bytes.
    public static let maximumMessageSize = 1 << 16

    /// The activity type.
    public let activityType: String
    /// The link.
    public let webpageURL: String
    /// The bytes of the tag's whole message, as read.
    public let message: [UInt8]

    /// Why a payload is not valid.
    public struct Problem: Error, Sendable, Hashable {
        /// A sentence that explains the problem.
        public var reason: String

        init(_ reason: String) { self.reason = reason }
    }

    /// Creates a payload and checks its values: the link must be the one in the message.
    ///
    /// - Throws: ``Problem``.
    public init(activityType: String, webpageURL: String, message: [UInt8]) throws(Problem) {
        guard activityType == Self.browsingWeb else { throw Problem("The activity's type is not \(Self.browsingWeb).") }
        guard message.count <= Self.maximumMessageSize else {
            throw Problem("The message is larger than \(Self.maximumMessageSize) bytes.")
        }
        guard let content = try? NDEFMessage(decoding: message) else {
            throw Problem("The message is no NDEF message.")
        }
        guard case .uri(let uri) = LinkChoice(content), uri.host != nil, uri.text == webpageURL else {
            throw Problem("The link is not that of the message.")
        }
        self.activityType = activityType
        self.webpageURL = webpageURL
        self.message = message
    }

    /// The payload as JSON, for transports other than D-Bus: `activity_type`, `webpage_url`, and `ndef_message` in
    /// Base64.
    public var json: [UInt8] {
        let fields = Fields(activity_type: activityType, webpage_url: webpageURL, ndef_message: Data(message))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(fields)).map { [UInt8]($0) } ?? []
    }

    /// Reads a payload from JSON.
    ///
    /// - Throws: ``Problem``.
    public init(json: [UInt8]) throws(Problem) {
        // Base64 makes the message a third longer. The link is at most as long as the limit for links.
        guard json.count <= 4 * Self.maximumMessageSize else { throw Problem("The payload is too large.") }
        let fields: Fields
        do {
            fields = try JSONDecoder().decode(Fields.self, from: Data(json))
        } catch {
            throw Problem("The payload is no JSON object with activity_type, webpage_url and ndef_message.")
        }
        try self.init(
            activityType: fields.activity_type,
            webpageURL: fields.webpage_url,
            message: [UInt8](fields.ndef_message)
        )
    }

    private struct Fields: Codable {
        var activity_type: String
        var webpage_url: String
        var ndef_message: Data
    }
}
