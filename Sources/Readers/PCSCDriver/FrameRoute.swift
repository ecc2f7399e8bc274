// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A way to send frames to the tag in a reader. Exchanges wait on the driver's thread.
protocol FrameRoute: Sendable {
    var maximumFrameLength: Int { get }

    /// Whether the tag receives the frames unchanged. False if the reader sends an equivalent command instead.
    var carriesFrames: Bool { get }

    /// Whether the route takes the commands of ``FrameLink/authenticatesClassic``.
    var authenticatesClassic: Bool { get }

    /// Prepares the reader after the tag was activated. Throws `LinkError` with `unsupported` when the reader does not
    /// support this route.
    func begin(_ connection: CardConnection) throws(LinkError)

    /// Sends a frame. The errors are those of `FrameLink.transceive`.
    func exchange(_ frame: Frame, timeout: Airtime, _ connection: CardConnection) throws(LinkError) -> Frame

    /// Restores the reader's previous state.
    func end(_ connection: CardConnection)
}

extension FrameRoute {
    var maximumFrameLength: Int { 256 }
    var carriesFrames: Bool { true }
    var authenticatesClassic: Bool { false }
    func begin(_ connection: CardConnection) throws(LinkError) {}
    func end(_ connection: CardConnection) {}
}

extension LinkError {
    static func cannotSend(_ route: String, _ what: String) -> LinkError {
        LinkError(.unsupported, "\(route) can't send \(what).")
    }
}

struct RouteFinder {
    let connection: CardConnection
    var findings: ReaderFindings

    /// Finds and begins the best route for frames. Throws `LinkError` with `tagRemoved` or `readerUnavailable`, or
    /// another error after which the caller should poll again.
    mutating func route(
        for kind: AnswerToReset.StorageCard.Kind,
        identifier: [UInt8]
    ) throws(LinkError) -> (any FrameRoute)? {
        guard let technology = kind.technology else { return nil }
        let isType1 = kind == .type1
        var isClassic = false
        if case .nfcA(let sak?) = kind { isClassic = sak & 0x28 == 0x08 }
        // The PN53x does not support ISO/IEC 15693.
        if technology != .nfcV, try hasChip() {
            let route = PN53xRoute(technology: technology, isType1: isType1, authenticatesClassic: isClassic)
            try route.begin(connection)
            return route
        }
        guard !isType1 else { return nil }
        // No other route has the cipher.
        if isClassic { return ClassicStorageRoute() }
        if let route = try transparentRoute(technology) { return route }
        switch technology {
        case .nfcV:
            if try hasTraverse() { return TraverseRoute() }
            return Type5StorageRoute(uid: TagIdentification.vicinityIdentifier(identifier) ?? identifier)
        case .nfcF: return Type3StorageRoute(idm: identifier)
        default: return Type2StorageRoute()
        }
    }

    private mutating func hasChip() throws(LinkError) -> Bool {
        if let chip = findings.chip { return chip != nil }
        let chip = PN53xRoute.firmware(connection)
        findings.chip = .some(chip)
        try checkTagIsPresent()
        return chip != nil
    }

    private mutating func transparentRoute(_ technology: Technology) throws(LinkError) -> TransparentRoute? {
        if let storedInstruction = findings.transparent[technology] {
            guard let instruction = storedInstruction else { return nil }
            let route = TransparentRoute(instruction: instruction, technology: technology)
            try route.begin(connection)
            return route
        }
        for instruction in TransparentRoute.instructions {
            let route = TransparentRoute(instruction: instruction, technology: technology)
            if try tries(route) {
                findings.transparent[technology] = .some(instruction)
                return route
            }
        }
        findings.transparent[technology] = .some(nil)
        return nil
    }

    private mutating func hasTraverse() throws(LinkError) -> Bool {
        if let traverse = findings.traverse { return traverse }
        let works = try tries(TraverseRoute())
        findings.traverse = works
        return works
    }

    /// Returns whether a route can begin. Throws if the tag left, because the answer is then unknown.
    private func tries(_ route: some FrameRoute) throws(LinkError) -> Bool {
        do throws(LinkError) {
            try route.begin(connection)
            return true
        } catch {
            switch error.code {
            case .tagRemoved, .readerUnavailable, .cancelled: throw error
            default: return false
            }
        }
    }

    private func checkTagIsPresent() throws(LinkError) {
        guard findings.chip == .some(nil) else { return }
        _ = try TagIdentification.identifier(connection)
    }
}

/// What was learned about a reader while tags were in it. It does not change until the reader is unplugged.
struct ReaderFindings: Sendable, Hashable {
    /// The reader's PN53x. The inner nil means that the reader has none, or no access to it.
    var chip: String??
    /// The instruction of transparent sessions. The inner nil means that the reader does not support them.
    var transparent: [Technology: UInt8?] = [:]
    /// Whether Traverse transmits ISO/IEC 15693 requests.
    var traverse: Bool?
}

/// What a reader's driver reports about the reader (PC/SC part 10, 2.2 and 2.3; supplement 2.02.09).
struct ReaderFeatures: Sendable, Hashable {
    var codes: [UInt8: UInt32] = [:]
    var properties: [UInt8: [UInt8]] = [:]

    /// SCARD_CTL_CODE(3400).
    private static let featureRequest: UInt32 = 0x4200_0D48
    private static let propertiesFeature: UInt8 = 0x12
    private static let escapeFeature: UInt8 = 0x13
    private static let firmwareProperty: UInt8 = 8
    private static let maximumDataProperty: UInt8 = 10
    private static let vendorProperty: UInt8 = 11
    private static let productProperty: UInt8 = 12

    init() {}

    /// Asks the driver. A driver that does not answer is treated like a driver without features.
    init(_ control: (_ code: UInt32) -> [UInt8]?) {
        guard let list = control(Self.featureRequest) else { return }
        for start in stride(from: 0, to: list.count - 5, by: 6) where list[start + 1] == 4 {
            codes[list[start]] = UInt32(bytes: list[start + 2..<start + 6])
        }
        guard let code = codes[Self.propertiesFeature], let bytes = control(code) else { return }
        var position = 0
        while position + 2 <= bytes.count {
            let end = position + 2 + Int(bytes[position + 1])
            guard end <= bytes.count else { break }
            properties[bytes[position]] = Array(bytes[position + 2..<end])
            position = end
        }
    }

    init(_ connection: CardConnection) {
        self.init { try? connection.control($0) }
    }

    /// Whether the reader supports commands longer than 261 bytes; nil when the driver does not report it.
    var takesExtendedAPDUs: Bool? {
        number(Self.maximumDataProperty).map { $0 > 256 }
    }

    /// The code for escape commands; nil when the driver does not support or allow them.
    var escapeCode: UInt32? { codes[Self.escapeFeature] }

    var usbIdentifier: String? {
        guard let vendor = number(Self.vendorProperty), let product = number(Self.productProperty) else { return nil }
        return "\(Self.hexadecimal(vendor)):\(Self.hexadecimal(product))"
    }

    var firmware: String? {
        properties[Self.firmwareProperty].map { String(decoding: $0, as: UTF8.self) }
    }

    /// Reads a property, which is little-endian.
    private func number(_ property: UInt8) -> Int? {
        guard let bytes = properties[property], (1...4).contains(bytes.count) else { return nil }
        return Int(bytes: bytes.reversed())
    }

    private static func hexadecimal(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
