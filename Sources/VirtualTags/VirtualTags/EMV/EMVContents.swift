// SPDX-License-Identifier: Apache-2.0

/// The known data of a payment card: everything that its application sends to each terminal before a payment begins
/// (EMV, Book 3, Annex A).
///
/// The keys of a payment, certificates, track 2 and transaction counters are not included: no dump has them, and a
/// virtual card can't make payments.
public struct EMVContents: Sendable, Hashable {
    /// A date in the application's format: year, month and day, with two decimal digits each.
    public struct Date: Sendable, Hashable {
        /// The three bytes in BCD; zeros if the date is unknown.
        public var digits: [UInt8]

        /// Creates a date from year, month and day in BCD.
        public init(_ digits: [UInt8] = [0, 0, 0]) {
            self.digits = digits
        }

        var isKnown: Bool { digits.contains { $0 != 0 } }
    }

    /// The name of the application (AID), 5 to 16 bytes; empty if no application is known.
    public var applicationIdentifier: [UInt8]
    /// The application label, such as `VISA DEBIT`.
    public var label = ""
    /// The application preferred name.
    public var name = ""
    /// The cardholder's name.
    public var cardholder = ""
    /// The card number in BCD, padded with F.
    public var accountNumber: [UInt8]
    /// The application interchange profile, two bytes.
    public var interchangeProfile: [UInt8] = [0, 0]
    /// The country of the issuer (ISO 3166-1), in BCD; 0 if unknown.
    public var country: UInt16 = 0
    /// The currency of the application (ISO 4217), in BCD; 0 if unknown.
    public var currency: UInt16 = 0
    /// When the application expires.
    public var expiration = Date()
    /// When the application becomes valid.
    public var effective = Date()
    /// The number of remaining PIN attempts; nil if unknown.
    public var pinTries: UInt8?

    /// Whether a text is one line, and no longer than any that a card has.
    package static func canHold(_ text: String) -> Bool {
        text.utf8.count <= 64 && !text.unicodeScalars.contains { $0.value < 0x20 }
    }

    /// Whether the name of the application and the number have lengths that they can have.
    package var isInRange: Bool {
        let count = applicationIdentifier.count
        return (count == 0 || (5...16).contains(count)) && accountNumber.count <= 10
    }

    /// Creates the data of a card.
    public init(applicationIdentifier: [UInt8], accountNumber: [UInt8]) {
        self.applicationIdentifier = applicationIdentifier
        self.accountNumber = accountNumber
    }
}
