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
/// It lacks track 2, certificates and cryptograms, because dumps do. GENERATE AC is answered with 6D00.
public struct EMVCard: Card {
    /// The name of the directory, 2PAY.SYS.DDF01.
    public static let directoryName = Array("2PAY.SYS.DDF01".utf8)

    /// The card's data.
    public let contents: EMVContents
    private var card: ApplicationCard

    /// Creates a card.
    public init(_ contents: EMVContents) {
        self.contents = contents
        var applications: [any CardApplication] = []
        if !contents.applicationIdentifier.isEmpty {
            applications = [EMVDirectory(contents: contents), EMVApplication(contents: contents)]
        }
        card = ApplicationCard(applications)
    }

    public mutating func process(_ message: [UInt8], tear: TornWrite?) -> CardAnswer {
        card.process(message, tear: tear)
    }

    public mutating func losePower() { card.losePower() }
}

private struct EMVDirectory: CardApplication {
    let contents: EMVContents

    var names: [[UInt8]] { [EMVCard.directoryName] }

    mutating func select(_ command: CardCommand) -> CardAnswer {
        var entry = [DataObject(0x4F, contents.applicationIdentifier)]
        if !contents.label.isEmpty { entry.append(DataObject(0x50, Array(contents.label.utf8))) }
        entry.append(DataObject(0x87, [0x01]))
        let directory = DataObject(0xA5, [DataObject(0xBF0C, [DataObject(0x61, entry)])])
        return CardAnswer(
            DataObject(0x6F, [DataObject(0x84, EMVCard.directoryName), directory]).bytes,
            status: .success
        )
    }

    mutating func process(_ command: CardCommand, tear: TornWrite?) -> CardAnswer {
        CardAnswer(status: .unknownInstruction)
    }

    mutating func deselect() {}
}

private struct EMVApplication: CardApplication {
    let contents: EMVContents
    /// Whether the processing options were requested. Before that, no record can be read.
    var isInitiated = false

    var names: [[UInt8]] { [contents.applicationIdentifier] }

    mutating func select(_ command: CardCommand) -> CardAnswer {
        var properties: [DataObject] = []
        if !contents.label.isEmpty { properties.append(DataObject(0x50, Array(contents.label.utf8))) }
        if !contents.name.isEmpty {
            properties += [DataObject(0x9F11, [0x01]), DataObject(0x9F12, Array(contents.name.utf8))]
        }
        let objects = [DataObject(0x84, contents.applicationIdentifier), DataObject(0xA5, properties)]
        return CardAnswer(DataObject(0x6F, objects).bytes, status: .success)
    }

    mutating func deselect() { isInitiated = false }

    mutating func process(_ command: CardCommand, tear: TornWrite?) -> CardAnswer {
        CardAnswer { () throws(CardStatus) in
            switch (command.cla, command.ins) {
            case (0x80, 0xA8): try processingOptions(command)
            case (0x00, 0xB2): try record(command)
            case (0x80, 0xCA): try data(command)
            default: throw .unknownInstruction
            }
        }
    }

    /// GET PROCESSING OPTIONS. The application requests no data from the terminal.
    private mutating func processingOptions(_ command: CardCommand) throws(CardStatus) -> CardAnswer {
        guard command.parameters == 0 else { throw .wrongParameters }
        guard command.data == [0x83, 0x00] else { throw .wrongLength }
        guard !isInitiated else { throw .conditionsNotSatisfied }
        isInitiated = true
        // File 1 has one record, which is not part of offline authentication.
        let locator = DataObject(0x94, [0x08, 0x01, 0x01, 0x00])
        let options = DataObject(0x77, [DataObject(0x82, contents.interchangeProfile), locator])
        return CardAnswer(options.bytes, status: .success)
    }

    private func record(_ command: CardCommand) throws(CardStatus) -> CardAnswer {
        guard isInitiated else { throw .conditionsNotSatisfied }
        guard command.p2 & 0x07 == 0x04 else { throw .wrongParameters }
        guard command.p1 == 1, command.p2 >> 3 == 1 else { throw .recordNotFound }
        var objects = [DataObject(0x5A, contents.accountNumber)]
        func add(_ tag: UInt16, _ value: [UInt8], _ isKnown: Bool) {
            if isKnown { objects.append(DataObject(tag, value)) }
        }
        add(0x5F20, Array(contents.cardholder.utf8), !contents.cardholder.isEmpty)
        add(0x5F24, contents.expiration.digits, contents.expiration.isKnown)
        add(0x5F25, contents.effective.digits, contents.effective.isKnown)
        add(0x5F28, contents.country.bigEndianBytes, contents.country != 0)
        add(0x9F42, contents.currency.bigEndianBytes, contents.currency != 0)
        return CardAnswer(DataObject(0x70, objects).bytes, status: .success)
    }

    /// GET DATA: the PIN try counter.
    private func data(_ command: CardCommand) throws(CardStatus) -> CardAnswer {
        guard command.parameters == 0x9F17, let tries = contents.pinTries else { throw .dataNotFound }
        return CardAnswer(DataObject(0x9F17, [tries]).bytes, status: .success)
    }
}
