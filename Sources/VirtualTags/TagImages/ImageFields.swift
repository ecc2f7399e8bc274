// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// The named values of a file: the lines of a Flipper file, or the members of a JSON object.
///
/// Errors contain the line. Their code is `missingField` for a missing value, `malformed` for an invalid one.
protocol ImageFields {
    /// Returns a key as shown in messages.
    static func shown(_ key: String) -> String

    /// Returns the line where a value starts, counted from 1; nil if the value is missing.
    func line(_ key: String) -> Int?
    func hasValue(_ key: String) -> Bool
    func text(_ key: String) throws(TagImageError) -> String
    func number(_ key: String, in range: ClosedRange<Int>) throws(TagImageError) -> Int
    func flag(_ key: String) throws(TagImageError) -> Bool
    /// Returns the bytes of a hexadecimal value. If `count` is nil, any number of bytes is accepted.
    func bytes(_ key: String, count: Int?) throws(TagImageError) -> [UInt8]
}

extension ImageFields {
    func error(_ code: TagImageError.Code, _ key: String, _ reason: String) -> TagImageError {
        TagImageError(code, reason, line: line(key))
    }

    /// Returns the error for an invalid value. Its reason is a sentence of the key and a predicate.
    func malformed(_ key: String, _ predicate: String) -> TagImageError {
        error(.malformed, key, "\(Self.shown(key)) \(predicate).")
    }

    // MARK: Values

    func byte(_ key: String) throws(TagImageError) -> UInt8 { try bytes(key, count: 1)[0] }

    /// Returns a 16-bit number, high byte first.
    func word(_ key: String) throws(TagImageError) -> UInt16 { UInt16(bytes: try bytes(key, count: 2)) }

    func number(_ key: String, in range: ClosedRange<Int>, default value: Int) throws(TagImageError) -> Int {
        hasValue(key) ? try number(key, in: range) : value
    }

    func flag(_ key: String, default value: Bool) throws(TagImageError) -> Bool {
        hasValue(key) ? try flag(key) : value
    }

    func byte(_ key: String, default value: UInt8) throws(TagImageError) -> UInt8 {
        hasValue(key) ? try byte(key) : value
    }

    func nfcAIdentifier(_ key: String) throws(TagImageError) -> [UInt8] {
        let uid = try bytes(key, count: nil)
        guard [4, 7, 10].contains(uid.count) else {
            throw error(.malformed, key, "A UID has 4, 7 or 10 bytes, not \(uid.count).")
        }
        return uid
    }

    /// Returns an ATS, starting with its length.
    func answerToSelect(_ key: String) throws(TagImageError) -> [UInt8] {
        let ats = try bytes(key, count: nil)
        guard let length = ats.first, Int(length) == ats.count, ats.count <= 254 else {
            throw malformed(key, "does not begin with its length")
        }
        return ats
    }

    /// Returns the answer of an NXP card to GET VERSION, with or without the final byte for the fab key.
    func cardVersion(_ key: String) throws(TagImageError) -> [UInt8] {
        let version = try bytes(key, count: nil)
        guard (28...29).contains(version.count) else {
            throw malformed(key, "has \(version.count) bytes; an answer has 28 or 29")
        }
        return version
    }

    func paymentCard(
        _ application: String,
        _ number: String,
        counts: (application: Int?, number: Int?) = (nil, nil)
    ) throws(TagImageError) -> EMVContents {
        let contents = EMVContents(
            applicationIdentifier: try bytes(application, count: counts.application),
            accountNumber: try bytes(number, count: counts.number)
        )
        guard contents.isInRange else {
            let keys = (Self.shown(application), Self.shown(number))
            throw error(.malformed, application, "\(keys.0) has 5 to 16 bytes, and \(keys.1) at most 10.")
        }
        return contents
    }

    /// Reads a two-byte code, four hexadecimal digits, from part of a value or a key.
    func code(_ text: some StringProtocol, in key: String) throws(TagImageError) -> UInt16 {
        guard let bytes = [UInt8](hexadecimal: text.utf8), bytes.count == 2 else {
            throw malformed(key, "has no code of four hexadecimal digits")
        }
        return UInt16(bytes: bytes)
    }

    /// Reads the values of a table that exist in the file. Throws if a required value is missing.
    func read<Contents>(_ table: [ImageField<Self, Contents>], into contents: inout Contents) throws(TagImageError) {
        for field in table where field.isRequired || hasValue(field.key) { try field.read(self, &contents) }
    }
}

/// A value in a file. Each format writes it in its own way.
enum ImageValue: Equatable {
    case bytes([UInt8])
    case number(Int)
    case numbers([Int])
    case flag(Bool)
    case text(String)
    case null
}

/// Reads and writes the value in a file for one property of a tag.
///
/// Each format has a table of fields for each kind of tag, in the order of writing.
struct ImageField<Fields: ImageFields, Contents> {
    let key: String
    let comment: String?
    /// Whether a file without the value can't be read.
    private(set) var isRequired = false
    let read: (Fields, inout Contents) throws(TagImageError) -> Void
    let write: (Contents) -> ImageValue

    init(
        _ key: String,
        comment: String? = nil,
        read: @escaping (Fields, inout Contents) throws(TagImageError) -> Void,
        write: @escaping (Contents) -> ImageValue
    ) {
        self.key = key
        self.comment = comment
        self.read = read
        self.write = write
    }

    var required: Self {
        var field = self
        field.isRequired = true
        return field
    }

    /// A value that is only written. It is read before the table, or only describes other values.
    static func written(_ key: String, comment: String? = nil, _ write: @escaping (Contents) -> ImageValue) -> Self {
        Self(key, comment: comment) { _, _ in
        } write: {
            write($0)
        }
    }

    private static func bytes(
        _ key: String,
        _ comment: String?,
        count: Int?,
        set: @escaping (inout Contents, [UInt8]) -> Void,
        get: @escaping (Contents) -> [UInt8]?
    ) -> Self {
        Self(key, comment: comment) { (fields, contents) throws(TagImageError) in
            set(&contents, try fields.bytes(key, count: count))
        } write: {
            get($0).map { .bytes($0) } ?? .null
        }
    }

    static func bytes(
        _ key: String,
        _ path: WritableKeyPath<Contents, [UInt8]>,
        count: Int? = nil,
        comment: String? = nil
    ) -> Self {
        bytes(key, comment, count: count, set: { $0[keyPath: path] = $1 }, get: { $0[keyPath: path] })
    }

    static func bytes(_ key: String, _ path: WritableKeyPath<Contents, [UInt8]?>, count: Int? = nil) -> Self {
        bytes(key, nil, count: count, set: { $0[keyPath: path] = $1 }, get: { $0[keyPath: path] })
    }

    static func byte(_ key: String, _ path: WritableKeyPath<Contents, UInt8>, comment: String? = nil) -> Self {
        bytes(key, comment, count: 1, set: { $0[keyPath: path] = $1[0] }, get: { [$0[keyPath: path]] })
    }

    static func word(_ key: String, _ path: WritableKeyPath<Contents, UInt16>, lowByteFirst: Bool = false) -> Self {
        bytes(
            key,
            nil,
            count: 2,
            set: { $0[keyPath: path] = UInt16(bytes: lowByteFirst ? $1.reversed() : $1) },
            get: { lowByteFirst ? $0[keyPath: path].littleEndianBytes : $0[keyPath: path].bigEndianBytes }
        )
    }

    /// A Boolean. If inverted, the file contains the opposite of the property.
    static func flag(
        _ key: String,
        _ path: WritableKeyPath<Contents, Bool>,
        isInverted: Bool = false,
        comment: String? = nil
    ) -> Self {
        Self(key, comment: comment) { (fields, contents) throws(TagImageError) in
            contents[keyPath: path] = try fields.flag(key) != isInverted
        } write: {
            .flag($0[keyPath: path] != isInverted)
        }
    }

    static func number<Number: FixedWidthInteger>(
        _ key: String,
        _ path: WritableKeyPath<Contents, Number>,
        in range: ClosedRange<Int>
    ) -> Self {
        Self(key) { (fields, contents) throws(TagImageError) in
            contents[keyPath: path] = Number(try fields.number(key, in: range))
        } write: {
            .number(Int($0[keyPath: path]))
        }
    }

    static func text(_ key: String, _ path: WritableKeyPath<Contents, String>) -> Self {
        Self(key) { (fields, contents) throws(TagImageError) in
            contents[keyPath: path] = try fields.text(key)
        } write: {
            .text($0[keyPath: path])
        }
    }

    /// A text of a payment card: one short line.
    static func cardText(_ key: String, _ path: WritableKeyPath<Contents, String>) -> Self {
        Self(key) { fields, contents throws(TagImageError) in
            let text = try fields.text(key)
            guard EMVContents.canHold(text) else { throw fields.malformed(key, "is not a line of at most 64 bytes") }
            contents[keyPath: path] = text
        } write: {
            .text($0[keyPath: path])
        }
    }
}
