// SPDX-License-Identifier: Apache-2.0
package import BackgroundTagReading
import UniversalLinks

/// Says which app opens the link of a tag.
package struct LinkVerdict: Sendable {
    private let router: LinkRouter

    /// - Parameter router: the apps and their association files.
    package init(_ router: LinkRouter) { self.router = router }

    /// Returns the member `link` of an event; nil for a message whose first record is no web link.
    package func json(_ message: [UInt8]) -> JSONValue? {
        guard let uri = MessageJSON.firstURI(message).flatMap(TagURI.init), uri.host != nil else { return nil }
        let answer = router.universalLink(uri)
        return [
            "url": .string(uri.text), "app": answer.app.map { .string($0) } ?? .null, "why": .string(answer.why),
        ]
    }
}
