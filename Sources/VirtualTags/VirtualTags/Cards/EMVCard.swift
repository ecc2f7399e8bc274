// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The known data of a payment card: the data that it sends to every terminal before a payment (EMV, Book 3, Annex A).
///
/// Payment keys, certificates, track 2 and transaction counters are not included. Dumps don't contain them, and a
/// virtual card can't make payments.
public struct EMVContents: Sendable, Hashable {
    /// A date in the application's format: year, month and day, with two decimal digits each.
    public struct Date: Sendable, Hashable {
        /// The three bytes in BCD; zeros if the date is unknown.
        public var digits: [UInt8]

        /// Creates a date from year, month and day in BCD.
        public init(_ digits: [UInt8] = [0, 0, 0]) { self.digits = digits }

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
    /// The date on which the application expires.
    public var expiration = Date()
    /// The date on which the application becomes valid.
    public var effective = Date()
    /// The number of remaining PIN attempts; nil if unknown.
    public var pinTries: UInt8?

    /// Whether a text is a single line of at most 64 bytes, as on cards.
    package static func canHold(_ text: String) -> Bool {
        text.utf8.count <= 64 && !text.unicodeScalars.contains { $0.value < 0x20 }
    }

    /// Whether the application name and the card number have valid lengths.
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

/// A payment card, up to the start of a payment: the directory of contactless applications, the application, its
/// processing options, one record, and the PIN try counter (EMV, Book 1 and Book 3, 6.5; EMV Contactless, Book B).
///
/// It lacks track 2, certificates and cryptograms, because dumps do. GENERATE AC is answered with 6D00. For a card with
/// test keys, create the product `EMV test card`.
public struct EMVCard: Card {
    /// The name of the directory, 2PAY.SYS.DDF01.
    public static let directoryName = Array("2PAY.SYS.DDF01".utf8)

    /// The card's data.
    public let contents: EMVContents
    private var card: ApplicationCard

    /// Creates a card.
    public init(_ contents: EMVContents) {
        self.contents = contents
        card = ApplicationCard(
            contents.applicationIdentifier.isEmpty ? [] : [EMVApplication(stored: contents.stored)]
        )
    }

    public mutating func process(_ message: [UInt8], tear: TornWrite?) -> CardAnswer {
        card.process(message, tear: tear)
    }

    public mutating func losePower() { card.losePower() }
}

extension EMVContents {
    /// The values of the application: what the terminal reads, without any key.
    fileprivate var stored: [String: [UInt8]] {
        var properties: [DataObject] = []
        if !label.isEmpty { properties.append(DataObject(0x50, Array(label.utf8))) }
        if !name.isEmpty { properties += [DataObject(0x9F11, [0x01]), DataObject(0x9F12, Array(name.utf8))] }
        var objects = [DataObject(0x5A, accountNumber)]
        func add(_ tag: UInt16, _ value: [UInt8], _ isKnown: Bool) {
            if isKnown { objects.append(DataObject(tag, value)) }
        }
        add(0x5F20, Array(cardholder.utf8), !cardholder.isEmpty)
        add(0x5F24, expiration.digits, expiration.isKnown)
        add(0x5F25, effective.digits, effective.isKnown)
        add(0x5F28, country.bigEndianBytes, country != 0)
        add(0x9F42, currency.bigEndianBytes, currency != 0)
        // File 1 has one record, which is not part of offline authentication.
        let options = [DataObject(0x82, interchangeProfile), DataObject(0x94, [0x08, 0x01, 0x01, 0x00])]
        var stored = [
            "aid": applicationIdentifier, "fci": properties.flatMap(\.bytes), "options": options.flatMap(\.bytes),
            "record 1 1": DataObject(0x70, objects).bytes,
        ]
        if let pinTries { stored["9f17"] = [pinTries] }
        return stored
    }
}
