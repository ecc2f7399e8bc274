// SPDX-License-Identifier: Apache-2.0
package import BackgroundTagReading
import UniversalLinks

/// Determines which app opens a tag's link.
package struct LinkVerdict: Sendable {
    private let router: LinkRouter

    /// - Parameter router: the apps and their association files.
    package init(_ router: LinkRouter) { self.router = router }

    /// Returns an event's `link` member; nil if the message's first record is not a web link.
    package func json(_ message: [UInt8]) -> JSONValue? {
        guard let uri = MessageJSON.firstURI(message).flatMap(TagURI.init), uri.host != nil else { return nil }
        let answer = router.universalLink(uri)
        return [
            "url": .string(uri.text), "app": answer.app.map { .string($0) } ?? .null, "why": .string(answer.why),
        ]
    }
}
