// SPDX-License-Identifier: Apache-2.0
import TagLink

/// What a reader's driver reports about the reader (PC/SC part 10, 2.2 and 2.3; supplement 2.02.09).
struct ReaderFeatures: Sendable, Hashable {
    /// The control codes of the features.
    var codes: [UInt8: UInt32] = [:]
    /// Properties by their numbers.
    var properties: [UInt8: [UInt8]] = [:]

    /// SCARD_CTL_CODE(3400).
    private static let featureRequest: UInt32 = 0x4200_0D48
    private static let propertiesFeature: UInt8 = 0x12
    private static let escapeFeature: UInt8 = 0x13
    private static let firmwareProperty: UInt8 = 8
    private static let maximumDataProperty: UInt8 = 10
    private static let vendorProperty: UInt8 = 11
    private static let productProperty: UInt8 = 12

    /// Creates features without any information.
    init() {}

    /// Asks the driver. A driver without features is the same as one that does not answer.
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

    /// The code for escape commands; nil when the driver has none, or does not allow them.
    var escapeCode: UInt32? { codes[Self.escapeFeature] }

    /// USB vendor and product, such as 072f:2200.
    var usbIdentifier: String? {
        guard let vendor = number(Self.vendorProperty), let product = number(Self.productProperty) else { return nil }
        return "\(Self.hexadecimal(vendor)):\(Self.hexadecimal(product))"
    }

    /// The firmware's name, if the driver knows it.
    var firmware: String? {
        properties[Self.firmwareProperty].map { String(decoding: $0, as: UTF8.self) }
    }

    /// Properties are little-endian.
    private func number(_ property: UInt8) -> Int? {
        guard let bytes = properties[property], (1...4).contains(bytes.count) else { return nil }
        return Int(bytes: bytes.reversed())
    }

    private static func hexadecimal(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
