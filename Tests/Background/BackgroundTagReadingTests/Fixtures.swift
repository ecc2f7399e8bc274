// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import NDEF
import Testing
import UniversalLinks

/// Messages, apps and files that the tests share.
enum Fixture {
    static let link = "https://example.org/buy/42"

    static func message(_ uri: String) throws -> [UInt8] {
        try NDEFMessage([NDEFRecord.uri(uri)]).encoded()
    }

    /// A message with a link, which a second record brings to a number of bytes.
    static func message(_ uri: String, count: Int) throws -> [UInt8] {
        func message(_ filling: Int) throws -> [UInt8] {
            let filler = NDEFRecord.media(type: "a/b", payload: [UInt8](repeating: 0, count: filling))
            return try NDEFMessage([NDEFRecord.uri(uri), filler]).encoded()
        }
        // The length of a payload of this size has four bytes.
        return try message(1000 + count - message(1000).count)
    }

    static let reader = InstalledApp(
        id: "TEAM.org.example.reader",
        name: "Reader",
        desktopID: "org.example.Reader",
        associatedDomains: domains("applinks:example.org", "applinks:*.example.org"),
        schemes: ["reader"],
        isBusActivated: true
    )

    static func domains(_ entries: String...) -> [AssociatedDomain] { entries.compactMap(AssociatedDomain.init) }

    static func matcher(_ details: String) throws -> LinkMatcher {
        LinkMatcher(try AssociationFile(parsing: Data(#"{"applinks":{"details":[\#(details)]}}"#.utf8)))
    }

    /// Where `example.org/buy/*` opens the app ``reader``.
    static func router(allowsCustomSchemes: Bool = false) throws -> LinkRouter {
        let file = #"{"appIDs":["TEAM.org.example.reader"],"components":[{"/":"/buy/*"}]}"#
        return LinkRouter(
            apps: [reader],
            associations: ["example.org": try matcher(file)],
            allowsCustomSchemes: allowsCustomSchemes
        )
    }

    static func uri(_ text: String) throws -> TagURI { try #require(TagURI(text), "\(text.prefix(80))") }
}

extension NDEFRecord {
    /// A record of a well-known type with any payload.
    static func known(_ type: String, payload: [UInt8]) -> NDEFRecord {
        NDEFRecord(.wellKnown, type: Array(type.utf8), payload: payload)
    }
}
