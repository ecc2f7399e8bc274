// SPDX-License-Identifier: Apache-2.0

extension NDEFRecord {
    /// Creates a URI record with the longest prefix that fits.
    ///
    /// - Parameters:
    ///   - uri: the URI.
    ///   - identifier: the record's identifier.
    /// - Throws: ``RecordError`` with `controlCharacter`.
    public static func uri(_ uri: String, identifier: [UInt8] = []) throws(RecordError) -> NDEFRecord {
        try URIRecord(uri).makeRecord(identifier: identifier)
    }

    /// Creates a text record in UTF-8.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - language: its language, an IANA language code (BCP 47) of 1 to 63 ASCII characters.
    ///   - identifier: the record's identifier.
    /// - Throws: ``RecordError`` with `valueTooLong` or `badEncoding` for the language.
    public static func text(
        _ text: String,
        language: String,
        identifier: [UInt8] = []
    ) throws(RecordError) -> NDEFRecord {
        try TextRecord(text, language: language).makeRecord(identifier: identifier)
    }

    /// Creates a record of a media type (RFC 2046). A vCard is a record of type `text/vcard`.
    public static func media(
        type: String,
        payload: some Collection<UInt8>,
        identifier: [UInt8] = []
    ) -> NDEFRecord {
        NDEFRecord(.media, type: Array(type.utf8), identifier: identifier, payload: payload)
    }

    /// Creates a record of an external type, `domain:name`. Both parts must be lower case on the tag. NFC Forum RTD
    /// 1.0, 3.3.
    public static func external(
        type: String,
        payload: some Collection<UInt8>,
        identifier: [UInt8] = []
    ) -> NDEFRecord {
        NDEFRecord(.external, type: Array(type.utf8), identifier: identifier, payload: payload)
    }

    /// Creates an Android Application Record. It names the app that Android opens for the tag.
    public static func androidApplication(package: String, identifier: [UInt8] = []) -> NDEFRecord {
        external(type: "android.com:pkg", payload: Array(package.utf8), identifier: identifier)
    }

    /// Creates a record of format absolute URI. The URI is the type: it defines what the payload means.
    public static func absoluteURI(
        _ uri: String,
        payload: some Collection<UInt8> = [],
        identifier: [UInt8] = []
    ) -> NDEFRecord {
        NDEFRecord(.absoluteURI, type: Array(uri.utf8), identifier: identifier, payload: payload)
    }

    /// Creates a record of one of the NFC Forum's types.
    static func wellKnown(_ type: String, identifier: [UInt8] = [], payload: [UInt8]) -> NDEFRecord {
        NDEFRecord(.wellKnown, type: Array(type.utf8), identifier: identifier, payload: payload)
    }
}

extension NDEFMessage {
    /// Returns the bytes of a message inside a payload; no bytes for no records.
    static func innerBytes(_ records: [NDEFRecord]) throws(RecordError) -> [UInt8] {
        guard !records.isEmpty else { return [] }
        do {
            return try NDEFMessage(records).encoded()
        } catch {
            throw RecordError(.inner(error.code))
        }
    }
}
