// SPDX-License-Identifier: Apache-2.0
public import Foundation
import NDEF

extension NFCNDEFPayload {
    /// Makes a URI record (NFC Forum URI RTD 1.0) with the longest abbreviation that fits.
    ///
    /// - Parameter uri: the URI.
    /// - Returns: the record, or nil when the text is not a URI.
    public static func wellKnownTypeURIPayload(string uri: String) -> NFCNDEFPayload? {
        guard !uri.isEmpty, URL(string: uri) != nil else { return nil }
        return (try? URIRecord(uri).makeRecord()).map { NFCNDEFPayload($0) }
    }

    /// Makes a URI record (NFC Forum URI RTD 1.0) with the longest abbreviation that fits.
    ///
    /// - Parameter url: the URL.
    /// - Returns: the record, or nil when the URL has no text.
    public static func wellKnownTypeURIPayload(url: URL) -> NFCNDEFPayload? {
        wellKnownTypeURIPayload(string: url.absoluteString)
    }

    /// Makes a text record in UTF-8 (NFC Forum Text RTD 1.0).
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - locale: its language, which is written as a BCP 47 tag.
    /// - Returns: the record, or nil when the locale has no language.
    public static func wellKnownTypeTextPayload(string text: String, locale: Locale) -> NFCNDEFPayload? {
        (try? TextRecord(text, language: locale.identifier(.bcp47)).makeRecord()).map { NFCNDEFPayload($0) }
    }

    /// Makes a text record in UTF-8 (NFC Forum Text RTD 1.0).
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - locale: its language.
    /// - Returns: the record, or nil when the locale has no language.
    @available(*, deprecated, renamed: "wellKnownTypeTextPayload(string:locale:)")
    public static func wellKnowTypeTextPayload(string text: String, locale: Locale) -> NFCNDEFPayload? {
        wellKnownTypeTextPayload(string: text, locale: locale)
    }

    /// Reads the payload as a URI record.
    ///
    /// - Returns: the URL, or nil when the record is not a URI record or holds no URL.
    public func wellKnownTypeURIPayload() -> URL? {
        (try? URIRecord(NDEFRecord(fields))).flatMap { URL(string: $0.uri) }
    }

    /// Reads the payload as a text record.
    ///
    /// - Returns: the text and its language, or nil for both when the record is not a text record or is damaged.
    public func wellKnownTypeTextPayload() -> (String?, Locale?) {
        guard let record = try? TextRecord(NDEFRecord(fields)) else { return (nil, nil) }
        return (record.text, Locale(identifier: record.language))
    }
}
