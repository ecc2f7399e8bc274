// SPDX-License-Identifier: Apache-2.0

/// The decoded payload of a record.
public enum RecordContent: Sendable, Hashable {
    case empty
    case uri(URIRecord)
    case text(TextRecord)
    case smartPoster(SmartPosterRecord)
    /// A payload of a media type, including vCards.
    case media(type: String)
    case absoluteURI(String)
    /// A payload of an external type, which an organisation defined for itself.
    case external(type: String)
    case androidApplication(package: String)
    /// The first record of a handover message: select, request, mediation or initiate.
    case handover(HandoverRecord)
    case handoverCarrier(HandoverCarrierRecord)
    case bluetoothEasyPairing(BluetoothEasyPairingRecord)
    case bluetoothLowEnergy(BluetoothLowEnergyRecord)
    case wifi(WiFiRecord)
    case signature(SignatureRecord)
    case deviceInformation(DeviceInformationRecord)
    /// An NFC Forum type that is unknown to this module, or that only has a meaning inside another record.
    case wellKnown(type: String)
    case unknown
}

/// The kind of a record, derived only from its type name format and its type.
public enum RecordKind: String, Sendable, Hashable, CaseIterable {
    case empty
    case uri
    case text
    case smartPoster = "smartposter"
    case media = "mime"
    case absoluteURI = "absolute-uri"
    case external
    case androidApplication = "android-application"
    case handoverSelect = "handover-select"
    case handoverRequest = "handover-request"
    case handoverMediation = "handover-mediation"
    case handoverInitiate = "handover-initiate"
    case handoverCarrier = "handover-carrier"
    case bluetoothEasyPairing = "bluetooth-ep"
    case bluetoothLowEnergy = "bluetooth-le"
    case wifi = "wifi-wsc"
    case signature
    case deviceInformation = "device-information"
    /// An NFC Forum type that is unknown to this module, or that only has a meaning inside another record.
    case wellKnown = "well-known"
    /// A record whose format is `unknown` or reserved.
    case unknown
}

extension NDEFRecord {
    /// Decodes the payload according to the record's type.
    ///
    /// Messages inside payloads are decoded one level deep. A smart poster inside a smart poster is ignored, so no
    /// input can nest deeply.
    ///
    /// - Returns: the decoded payload.
    /// - Throws: ``NDEFError`` with any of the codes for payloads.
    public func content() throws(NDEFError) -> RecordContent {
        let payload = PayloadReader(self)
        return switch kind {
        case .empty: .empty
        case .uri: .uri(try URIRecord(payload))
        case .text: .text(try TextRecord(payload))
        case .smartPoster: .smartPoster(try SmartPosterRecord(payload))
        case .media: .media(type: String(nameBytes: typeSlice))
        case .absoluteURI: .absoluteURI(try PayloadReader(storage, typeRange).string())
        case .external: .external(type: String(nameBytes: typeSlice))
        case .androidApplication: .androidApplication(package: try payload.string())
        case .handoverSelect: .handover(try HandoverRecord(.select, payload))
        case .handoverRequest: .handover(try HandoverRecord(.request, payload))
        case .handoverMediation: .handover(try HandoverRecord(.mediation, payload))
        case .handoverInitiate: .handover(try HandoverRecord(.initiate, payload))
        case .handoverCarrier: .handoverCarrier(try HandoverCarrierRecord(payload))
        case .bluetoothEasyPairing: .bluetoothEasyPairing(try BluetoothEasyPairingRecord(payload))
        case .bluetoothLowEnergy: .bluetoothLowEnergy(try BluetoothLowEnergyRecord(payload))
        case .wifi: .wifi(try WiFiRecord(payload))
        case .signature: .signature(try SignatureRecord(payload))
        case .deviceInformation: .deviceInformation(try DeviceInformationRecord(payload))
        case .wellKnown: .wellKnown(type: String(nameBytes: typeSlice))
        case .unknown: .unknown
        }
    }

    /// The record's kind. Media types and external types ignore case; well-known types don't.
    public var kind: RecordKind {
        switch typeNameFormat {
        case .empty: .empty
        case .wellKnown: wellKnownKind
        case .media: Self.mediaKinds.first { typeIs($0.type) }?.kind ?? .media
        case .absoluteURI: .absoluteURI
        case .external: typeIs("android.com:pkg") ? .androidApplication : .external
        case .unknown, .unchanged, .reserved: .unknown
        }
    }

    private var wellKnownKind: RecordKind {
        switch String(decoding: typeSlice, as: UTF8.self) {
        case "U": .uri
        case "T": .text
        case "Sp": .smartPoster
        case "Sig": .signature
        case "Di": .deviceInformation
        case "Hs": .handoverSelect
        case "Hr": .handoverRequest
        case "Hm": .handoverMediation
        case "Hi": .handoverInitiate
        case "Hc": .handoverCarrier
        default: .wellKnown
        }
    }

    private static let mediaKinds: [(type: String, kind: RecordKind)] = [
        (WiFiRecord.mediaType, .wifi), (BluetoothEasyPairingRecord.mediaType, .bluetoothEasyPairing),
        (BluetoothLowEnergyRecord.mediaType, .bluetoothLowEnergy),
    ]

    /// Returns whether the type equals `name`, ignoring case.
    private func typeIs(_ name: String) -> Bool {
        func lowerCase(_ byte: UInt8) -> UInt8 {
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
        }
        return typeLength == name.utf8.count && zip(typeSlice, name.utf8).allSatisfy { lowerCase($0) == lowerCase($1) }
    }
}

/// A value that can be decoded from a record and encoded as a record.
public protocol TypedRecord: Sendable, Hashable {
    /// Decodes a record.
    ///
    /// - Parameter record: the record.
    /// - Throws: ``NDEFError`` with `wrongType` for a record of another type, or with the code of the payload's fault.
    init(_ record: NDEFRecord) throws(NDEFError)

    /// Makes a record.
    ///
    /// - Parameter identifier: the record's identifier.
    /// - Returns: a record that decodes to this value.
    /// - Throws: ``NDEFError`` when the value can't be encoded, such as `valueTooLong`.
    func makeRecord(identifier: [UInt8]) throws(NDEFError) -> NDEFRecord
}

/// A typed record whose kind has one payload format.
protocol PayloadRecord: TypedRecord {
    static var kind: RecordKind { get }

    init(_ payload: PayloadReader) throws(NDEFError)
}

extension PayloadRecord {
    public init(_ record: NDEFRecord) throws(NDEFError) {
        guard record.kind == Self.kind else { throw NDEFError(.wrongType) }
        try self.init(PayloadReader(record))
    }
}

extension TypedRecord {
    /// Makes a record without an identifier.
    ///
    /// - Throws: the errors of ``makeRecord(identifier:)``.
    public func makeRecord() throws(NDEFError) -> NDEFRecord { try makeRecord(identifier: []) }
}

// MARK: Fields of payloads

/// Reads fields from part of an array. Each read checks the remaining length first.
struct PayloadReader {
    private let bytes: [UInt8]
    private var rest: Range<Int>

    init(_ bytes: [UInt8], _ range: Range<Int>) {
        self.bytes = bytes
        rest = range
    }

    init(_ record: NDEFRecord) { self.init(record.storage, record.payloadRange) }

    var count: Int { rest.count }
    var isAtEnd: Bool { rest.isEmpty }
    var restBytes: [UInt8] { Array(bytes[rest]) }

    mutating func nextByte() -> UInt8? { part(1).map { $0.bytes[$0.rest.lowerBound] } }

    /// Reads an integer of two bytes, big endian.
    mutating func integer16() -> UInt16? {
        guard let high = nextByte(), let low = nextByte() else { return nil }
        return UInt16(high) << 8 | UInt16(low)
    }

    mutating func nextBytes(_ count: Int) -> [UInt8]? { part(count)?.restBytes }

    /// Returns a reader for the next `count` bytes and moves past them; nil if fewer remain.
    mutating func part(_ count: Int) -> PayloadReader? {
        guard count >= 0, count <= rest.count else { return nil }
        let middle = rest.lowerBound + count
        defer { rest = middle..<rest.upperBound }
        return PayloadReader(bytes, rest.lowerBound..<middle)
    }

    /// Returns the remaining bytes as UTF-8 text.
    func string() throws(NDEFError) -> String {
        do {
            return String(copying: try UTF8Span(validating: bytes.span.extracting(rest)))
        } catch {
            throw NDEFError(.badEncoding)
        }
    }

    /// Returns the message in the remaining bytes.
    func message() throws(NDEFError) -> NDEFMessage {
        do {
            return try NDEFMessage(decoding: bytes, in: rest)
        } catch {
            throw NDEFError(.inner(error.code))
        }
    }
}

extension NDEFMessage {
    /// Encodes records as a message inside a payload; empty if there are no records.
    static func innerBytes(_ records: [NDEFRecord]) throws(NDEFError) -> [UInt8] {
        guard !records.isEmpty else { return [] }
        do {
            return try NDEFMessage(records).encoded()
        } catch {
            throw NDEFError(.inner(error.code))
        }
    }
}

extension UInt16 {
    /// The two bytes, most significant byte first.
    var bytes: [UInt8] { [UInt8(self >> 8), UInt8(self & 0xFF)] }
}

extension String {
    /// Creates text from the bytes of a name that should be ASCII. The bytes are read as UTF-8 if they are valid,
    /// otherwise as ISO 8859-1.
    package init(nameBytes bytes: ArraySlice<UInt8>) {
        if let text = String(validating: bytes, as: UTF8.self) {
            self = text
        } else {
            self = String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        }
    }
}
