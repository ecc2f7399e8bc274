// SPDX-License-Identifier: Apache-2.0

/// The machine readable zone of a travel document (ICAO 9303-3, 4; 9303-4, 9303-5 and 9303-6), with its check digits.
///
/// ```swift
/// let zone = try MachineReadableZone(
///     """
///     P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<
///     L898902C36UTO7408122F1204159ZE184226B<<<<<10
///     """
/// )
/// ```
public struct MachineReadableZone: Sendable, Hashable {
    /// The sizes of documents. Each size has a different number and length of lines.
    public enum Format: Sendable, Hashable, CaseIterable {
        /// A card: three lines of 30 characters.
        case td1
        /// A larger card: two lines of 36 characters.
        case td2
        /// A passport: two lines of 44 characters.
        case td3

        var lineLength: Int {
            switch self {
            case .td1: 30
            case .td2: 36
            case .td3: 44
            }
        }

        var lineCount: Int { self == .td1 ? 3 : 2 }
    }

    /// The size of the document.
    public let format: Format
    /// All characters in ASCII, line by line.
    let characters: [UInt8]

    /// Parses the lines, with or without line breaks between them, and checks the check digits. Spaces are ignored.
    ///
    /// - Throws: ``EMRTDError`` with `malformedZone`, or `wrongCheckDigit` with the correct digit.
    public init(_ text: String) throws(EMRTDError) {
        let characters = Array(text.utf8).filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        guard let format = Format.allCases.first(where: { $0.lineLength * $0.lineCount == characters.count }) else {
            let reason = "The zone has \(characters.count) characters; TD1 has 90, TD2 72 and TD3 88."
            throw EMRTDError(.malformedZone, reason)
        }
        guard characters.allSatisfy({ Self.value(of: $0) != nil }) else {
            throw EMRTDError(.malformedZone, "The zone has characters other than A to Z, 0 to 9 and <.")
        }
        self.format = format
        self.characters = characters
        try checkDigits()
    }

    /// The lines, without line breaks.
    public var lines: [String] {
        (0..<format.lineCount).map { line in
            String(decoding: characters[(line * format.lineLength)..<((line + 1) * format.lineLength)], as: UTF8.self)
        }
    }

    /// The complete document number, even if it has more than nine characters, without trailing fillers.
    public var documentNumber: String {
        let number = number.digits
        return String(decoding: number.prefix(1 + (number.lastIndex { $0 != Self.filler } ?? -1)), as: UTF8.self)
    }

    /// The date of birth, as YYMMDD.
    public var dateOfBirth: String { String(decoding: characters[birth], as: UTF8.self) }

    /// The date of expiry, as YYMMDD.
    public var dateOfExpiry: String { String(decoding: characters[expiry], as: UTF8.self) }

    /// The input for deriving the keys of basic access control: the document number, the date of birth and the date of
    /// expiry, each with its check digit (ICAO 9303-11, 4.3.2).
    public var accessInformation: [UInt8] {
        let number = number
        let dates = [birth.lowerBound...birth.upperBound, expiry.lowerBound...expiry.upperBound]
        return number.digits + [number.check] + dates.flatMap { characters[$0] }
    }

    /// The same input from what is printed, for a document whose zone is not at hand.
    ///
    /// - Parameters:
    ///   - birth: the date of birth, as YYMMDD.
    ///   - expiry: the date of expiry, as YYMMDD.
    /// - Returns: nil if a part has other characters than A to Z, 0 to 9 and <, or a date has not six digits.
    package static func accessInformation(number: String, birth: String, expiry: String) -> [UInt8]? {
        let number = Array(number.utf8) + [UInt8](repeating: filler, count: max(0, 9 - number.utf8.count))
        let dates = [birth, expiry].map { Array($0.utf8) }
        guard (number + dates.flatMap { $0 }).allSatisfy({ value(of: $0) != nil }),
            dates.allSatisfy({ $0.count == 6 })
        else { return nil }
        return ([number] + dates).flatMap { $0 + [checkDigit(of: $0)] }
    }

    /// The kind of the document, such as P for a passport, or ID.
    package var kind: String { text(0..<2) }
    /// The state that issued the document, such as UTO.
    package var issuer: String { text(2..<5) }
    /// The state of the holder, such as UTO.
    package var nationality: String { text(place(td1: 45, other: 10, count: 3)) }
    /// M, F, or < if it is not given.
    package var sex: String { String(decoding: characters[place(td1: 37, other: 20, count: 1)], as: UTF8.self) }
    /// The primary and the secondary identifier: the surname, and the given names.
    package var names: (surname: String, given: String) {
        let area = characters[format == .td1 ? 60..<90 : 5..<format.lineLength]
        let parts = String(decoding: area, as: UTF8.self).split(separator: "<<", omittingEmptySubsequences: true)
        func spaced(_ part: Substring?) -> String {
            (part ?? "").split(separator: "<").joined(separator: " ")
        }
        return (spaced(parts.first), spaced(parts.dropFirst().first))
    }

    private func text(_ range: Range<Int>) -> String {
        String(decoding: characters[range].filter { $0 != Self.filler }, as: UTF8.self)
    }

    private func place(td1: Int, other: Int, count: Int) -> Range<Int> {
        let start = format == .td1 ? td1 : format.lineLength + other
        return start..<(start + count)
    }

    // MARK: Places in the zone

    private static let filler = UInt8(ascii: "<")

    /// The nine positions of the document number, which the check digit follows.
    private var shortNumber: Range<Int> { format == .td1 ? 5..<14 : format.lineLength..<(format.lineLength + 9) }
    private var birth: Range<Int> { at(format == .td1 ? 30 : format.lineLength + 13) }
    private var expiry: Range<Int> { at(format == .td1 ? 38 : format.lineLength + 21) }
    private func at(_ start: Int) -> Range<Int> { start..<(start + 6) }

    private var optionalData: Range<Int> {
        switch format {
        case .td1: 15..<30
        case .td2: 64..<71
        case .td3: 72..<86
        }
    }

    /// The document number and its check digit. On cards, a long number continues in the optional data, with a filler
    /// instead of the check digit (ICAO 9303-5, 4.2.2, note j; 9303-6, 4.2.2).
    private var number: (digits: [UInt8], check: UInt8) {
        let check = characters[shortNumber.upperBound]
        let rest = characters[optionalData].prefix { $0 != Self.filler }
        guard format != .td3, check == Self.filler, rest.count > 1, let last = rest.last else {
            return (Array(characters[shortNumber]), check)
        }
        return (characters[shortNumber] + rest.dropLast(), last)
    }

    // MARK: Check digits

    /// Returns a character's value (ICAO 9303-3, 4.9): 0 to 9 for digits, 10 to 35 for letters, 0 for the filler.
    private static func value(of character: UInt8) -> Int? {
        switch character {
        case 0x30...0x39: Int(character - 0x30)
        case 0x41...0x5A: Int(character - 0x41) + 10
        case filler: 0
        default: nil
        }
    }

    /// Returns the check digit of characters, with the repeated weights 7, 3 and 1.
    static func checkDigit(of characters: some Sequence<UInt8>) -> UInt8 {
        let weights = [7, 3, 1]
        let sum = characters.enumerated().reduce(0) { $0 + (value(of: $1.element) ?? 0) * weights[$1.offset % 3] }
        return 0x30 + UInt8(sum % 10)
    }

    private func checkDigits() throws(EMRTDError) {
        let number = number
        try check(number.digits, number.check, "document number")
        try check(characters[birth], characters[birth.upperBound], "date of birth")
        try check(characters[expiry], characters[expiry.upperBound], "date of expiry")
        let all: [Range<Int>]
        switch format {
        case .td1: all = [5..<37, 38..<45, 48..<59]
        case .td2: all = [36..<46, 49..<56, 57..<71]
        case .td3:
            // The check digit of an empty personal number may be a filler (ICAO 9303-4, 4.2.2).
            let personal = characters[optionalData]
            if characters[86] != Self.filler || personal.contains(where: { $0 != Self.filler }) {
                try check(personal, characters[86], "personal number")
            }
            all = [44..<54, 57..<64, 65..<87]
        }
        try check(all.flatMap { characters[$0] }, characters[format == .td1 ? 59 : characters.count - 1], "whole zone")
    }

    private func check(_ digits: some Sequence<UInt8>, _ found: UInt8, _ name: String) throws(EMRTDError) {
        let expected = Self.checkDigit(of: digits)
        guard found == expected else {
            throw EMRTDError(
                .wrongCheckDigit,
                "The check digit of the \(name) is \(Character(Unicode.Scalar(found))) "
                    + "and should be \(Character(Unicode.Scalar(expected)))."
            )
        }
    }
}
