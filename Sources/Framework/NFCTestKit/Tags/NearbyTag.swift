// SPDX-License-Identifier: Apache-2.0
public import CoreNFC
import Foundation
import NDEF
import NFCSessions
import TagLink
package import TagProtocols
public import VirtualTags

/// A tag of a ``TestField``. A test can inspect its contents at any time without affecting the code under test.
public final class NearbyTag: Sendable, CustomStringConvertible {
    /// The product's name and the UID.
    public let description: String
    /// The virtual tag, for tests that examine its internals.
    public let virtual: any VirtualTag
    /// The contents when the tag was created; nil for a tag that can't be copied, such as a scripted card.
    public let before: TagContents?
    /// The memory when the tag was created; empty if unknown.
    let areasBefore: [MemoryArea]
    /// Whether an exploration created the tag, as a second tag.
    let isCompanion: Bool
    private weak let field: TestField?

    init(_ virtual: any VirtualTag, in field: TestField, isCompanion: Bool = false) {
        self.virtual = virtual
        self.field = field
        self.isCompanion = isCompanion
        before = TagContents(of: virtual)
        areasBefore = MemoryArea.all(of: virtual)
        description = "\(before?.product ?? "card") \(virtual.identifier.hexText())"
    }

    /// The tag's current contents.
    ///
    /// - Throws: ``FieldError`` with `fieldIsGone`, `notVirtual` on a real reader, or `badTag` for a tag whose contents
    ///   can't be copied.
    public func contents() throws(FieldError) -> TagContents {
        guard field?.isOpen == true else { throw FieldError.fieldIsGone }
        guard field?.virtual != nil else {
            throw FieldError(.notVirtual, "The contents of a tag on a reader are unknown. Let the app read it again.")
        }
        guard let contents = TagContents(of: virtual) else {
            throw FieldError(.badTag, "The contents of a scripted card are unknown. Look at field.trace instead.")
        }
        return contents
    }

    /// The tag's current message.
    ///
    /// - Throws: ``FieldError`` with `fieldIsGone`, or `badTag` when the tag does not contain NDEF or its message can't
    ///   be read.
    public func message() async throws(FieldError) -> TagMessage { try await Self.message(of: contents()) }

    static func message(of contents: TagContents) async throws(FieldError) -> TagMessage {
        do throws(TagError) {
            return TagMessage(bytes: try await contents.readNDEF().message)
        } catch {
            throw FieldError(.badTag, error.reason)
        }
    }
}

/// An NDEF message in a test: the contents of a tag before the test, or the expected contents after it.
///
/// An array joins the records of several messages:
///
/// ```swift
/// let ticket = TagSpec.product("NTAG215", holding: [.uri("https://example.com"), .text("Day pass")])
/// ```
public struct TagMessage: Sendable, Hashable, CustomStringConvertible, ExpressibleByArrayLiteral {
    /// The bytes of the message; empty for a tag without a message.
    public var bytes: [UInt8]

    /// Creates a message from its bytes.
    public init(bytes: [UInt8]) { self.bytes = bytes }

    /// Creates a message with the records of all the given messages, in order.
    public init(arrayLiteral messages: TagMessage...) {
        let parts: [[NDEFRecord]?] = messages.map { message in
            message.bytes.isEmpty ? [] : try? NDEFMessage(decoding: message.bytes).records
        }
        // One invalid message makes all the bytes invalid, so that creating a tag fails.
        let records = parts.compactMap(\.self).flatMap(\.self)
        bytes = parts.contains { $0 == nil } ? [0] : records.isEmpty ? [] : (try? NDEFMessage(records).encoded()) ?? [0]
    }

    /// No message.
    public static let empty = TagMessage(bytes: [])

    /// A message with one URI record, which uses the longest matching URI prefix code.
    public static func uri(_ uri: String) -> TagMessage { TagMessage { () throws(NDEFError) in try .uri(uri) } }

    /// A message with one text record.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - language: the text's language.
    ///   - isUTF16: whether the text is in UTF-16, as the records of Core NFC's `wellKnownTypeTextPayload(string:locale:)`.
    ///     Most other programs write UTF-8.
    public static func text(_ text: String, language: String = "en", inUTF16 isUTF16: Bool = false) -> TagMessage {
        TagMessage { () throws(NDEFError) in
            try TextRecord(text, language: language, encoding: isUTF16 ? .utf16LittleEndianMark : .utf8).makeRecord()
        }
    }

    /// A message with one record of a media type (RFC 2046).
    ///
    /// - Parameters:
    ///   - type: the type, such as `text/vcard`.
    ///   - payload: the content.
    public static func media(_ type: String, _ payload: [UInt8]) -> TagMessage {
        TagMessage { () throws(NDEFError) in NDEFRecord(.media, type: Array(type.utf8), payload: payload) }
    }

    /// A message with one record of an external type.
    ///
    /// - Parameters:
    ///   - type: the type, such as `example.com:ticket`.
    ///   - payload: the content.
    public static func external(_ type: String, _ payload: [UInt8]) -> TagMessage {
        TagMessage { () throws(NDEFError) in NDEFRecord(.external, type: Array(type.utf8), payload: payload) }
    }

    /// Creates a message from a record. For an invalid record, the bytes are invalid too, so that creating a tag fails.
    private init(_ record: () throws(NDEFError) -> NDEFRecord) {
        bytes = (try? record()).flatMap { try? NDEFMessage([$0]).encoded() } ?? [0]
    }

    /// Returns the activity with which an app is continued when a tag with this message was read in the background.
    ///
    /// - Returns: an activity with the link of the first URI record, and the whole message; nil without a link, because
    ///   then a phone offers no app.
    public func makeUserActivity() -> NSUserActivity? {
        guard let records = try? NDEFMessage(decoding: bytes).records,
            let link = records.lazy.compactMap({ try? URIRecord($0).uri }).first, let url = URL(string: link),
            let message = NFCNDEFMessage(data: Data(bytes))
        else { return nil }
        return NSUserActivity(webpageURL: url, ndefMessagePayload: message)
    }

    /// The records as text, such as `URI https://example.com`.
    public var description: String {
        guard !bytes.isEmpty else { return "no message" }
        guard let message = try? NDEFMessage(decoding: bytes) else {
            return "damaged: \(bytes.hexText(separator: " "))"
        }
        return message.records.map { record in
            if let uri = try? URIRecord(record) { return "URI \(Self.short(uri.uri))" }
            if let text = try? TextRecord(record) {
                return "text \(Self.short(text.text))\(text.encoding == .utf8 ? "" : " in UTF-16")"
            }
            return "\(record.payloadCount) bytes of type \(String(decoding: record.type, as: UTF8.self))"
        }.joined(separator: ", ")
    }

    private static func short(_ text: String) -> String {
        text.unicodeScalars.count > 200 ? String(text.unicodeScalars.prefix(200)) + "…" : text
    }
}

/// Activates a tag in a new field and runs a procedure on it. The tag is powered only during this call.
package func withActivatedTag<Value>(
    in virtualTag: any VirtualTag,
    _ procedure: (any ForumTag) async throws(TagError) -> Value
) async throws(TagError) -> Value {
    let field = VirtualField()
    field.bring(virtualTag)
    defer { field.removeAll() }
    return try await withActivatedTag(in: field as any FieldDriver, procedure)
}

extension TagContents {
    /// Reads the NDEF data of these contents, using a temporary tag.
    ///
    /// - Returns: the access, the capacity, and the message, which is empty for a tag without a message.
    package func readNDEF() async throws(TagError) -> (access: NDEFDetection.Access, capacity: Int, message: [UInt8]) {
        try await withActivatedTag(in: makeTag()) { tag throws(TagError) in
            let detection = try await tag.detectNDEF()
            return (detection.access, detection.capacity, try await tag.readNDEF())
        }
    }
}
