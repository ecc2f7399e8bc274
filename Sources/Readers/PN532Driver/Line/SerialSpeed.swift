// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A speed that a PN532 supports (PN532 user manual, 7.2.8).
enum SerialSpeed: Int, Sendable, CaseIterable {
    case baud9600 = 9600
    case baud19200 = 19200
    case baud38400 = 38400
    case baud57600 = 57600
    case baud115200 = 115_200
    case baud230400 = 230_400
    case baud460800 = 460_800
    case baud921600 = 921_600

    /// The chip's initial speed.
    static let initial = baud115200

    /// All speeds in bits per second, as text.
    static var list: String { allCases.map { String($0.rawValue) }.joined(separator: ", ") }

    /// The operating system's code.
    var code: speed_t {
        switch self {
        case .baud9600: speed_t(B9600)
        case .baud19200: speed_t(B19200)
        case .baud38400: speed_t(B38400)
        case .baud57600: speed_t(B57600)
        case .baud115200: speed_t(B115200)
        case .baud230400: speed_t(B230400)
        case .baud460800: speed_t(B460800)
        case .baud921600: speed_t(B921600)
        }
    }

    /// The chip's code in SetSerialBaudRate.
    var chipCode: UInt8 {
        switch self {
        case .baud9600: 0
        case .baud19200: 1
        case .baud38400: 2
        case .baud57600: 3
        case .baud115200: 4
        case .baud230400: 5
        case .baud460800: 6
        case .baud921600: 7
        }
    }
}
