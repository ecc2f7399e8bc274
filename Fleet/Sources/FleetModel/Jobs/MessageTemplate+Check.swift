// SPDX-License-Identifier: Apache-2.0
import NDEF

/// Checks that need no tag.
extension MessageTemplate {
    /// The known placeholders.
    package static let places = ["{serial}", "{uid}", "{node}", "{reader}"]

    /// Checks that the template produces a valid message for any tag.
    ///
    /// - Throws: ``JobRefusal`` with `badJob`.
    package func check() throws(JobRefusal) {
        switch self {
        case .bytes(let bytes):
            do throws(NDEFError) {
                _ = try NDEFMessage(decoding: bytes)
            } catch {
                throw JobRefusal(.badJob, "The bytes are not an NDEF message: \(error)")
            }
        case .link(let link):
            guard Self.isLink(link) else {
                throw JobRefusal(
                    .badJob,
                    "'\(link.prefix(200))' is not a link. Use one such as https://example.com, without spaces."
                )
            }
            try Self.checkPlaces(link)
        case .text(let text, let language):
            guard Self.isLanguage(language) else {
                throw JobRefusal(.badJob, "'\(language.prefix(63))' is not a language. Use a code such as en or pt-BR.")
            }
            try Self.checkPlaces(text)
        }
    }

    /// Whether a text starts with a URI scheme (RFC 3986, 3.1), and contains no spaces or control characters. `nfc
    /// write` applies the same rule.
    private static func isLink(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), !text.unicodeScalars.contains(where: isUnfit) else { return false }
        let scheme = text[..<colon]
        return scheme.first.map { $0.isASCII && $0.isLetter } ?? false
            && scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    }

    private static func isUnfit(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace || scalar.properties.generalCategory == .control
    }

    /// Whether a text has the form of a language tag (RFC 5646, 2.1), and fits into a text record.
    private static func isLanguage(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let isFormed = parts.allSatisfy { part in
            (1...8).contains(part.utf8.count) && part.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
        }
        return isFormed && parts[0].allSatisfy(\.isLetter) && text.utf8.count <= 63
    }

    /// Checks that every `{` begins a known placeholder.
    private static func checkPlaces(_ text: String) throws(JobRefusal) {
        var rest = text[...]
        while let start = rest.firstIndex(of: "{") {
            rest = rest[start...]
            guard let place = places.first(where: { rest.hasPrefix($0) }) else {
                let end = rest.firstIndex(of: "}").map { rest.index(after: $0) } ?? rest.endIndex
                let names = places.joined(separator: ", ")
                throw JobRefusal(
                    .badJob,
                    "'\(rest[..<end].prefix(40))' is not a known placeholder. The placeholders are \(names)."
                )
            }
            rest = rest.dropFirst(place.count)
        }
    }
}
