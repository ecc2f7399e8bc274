// SPDX-License-Identifier: Apache-2.0
public import NDEF

/// The part of a message that background reading uses: its first well-known URI record, at any position.
///
/// URIs in smart posters, absolute URI records and other records are ignored.
public enum LinkChoice: Sendable, Hashable {
    /// The message has no URI record.
    case none
    /// The first URI record can't be read.
    case unusable
    /// The URI of the first URI record.
    case uri(TagURI)

    /// Finds the link of a message.
    public init(_ message: NDEFMessage) {
        guard let record = message.records.first(where: { $0.kind == .uri }) else {
            self = .none
            return
        }
        // A reserved code is a sign of a payload without a code byte: "https" would then start with code 68 and
        // continue "ttps".
        guard let content = try? URIRecord(record), !content.hasReservedPrefix, let uri = TagURI(content.uri) else {
            self = .unusable
            return
        }
        // A link with a system scheme but without a target opens nothing.
        guard LinkScheme(uri) == nil || SystemLink(uri) != nil else {
            self = .unusable
            return
        }
        self = .uri(uri)
    }
}
