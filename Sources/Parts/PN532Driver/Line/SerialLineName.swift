// SPDX-License-Identifier: Apache-2.0
import Glibc
import TagLink

/// The name of a serial line: its path, and optionally `@` and its speed.
struct SerialLineName: Sendable, Equatable {
    var path: String
    var speed = SerialSpeed.initial

    /// Parses a name.
    ///
    /// - Throws: `LinkError` with `unsupported` when there is no path, or the chip does not support the speed.
    init(_ name: String) throws(LinkError) {
        path = name
        // A path may contain an @ itself: only digits after it are a speed.
        if let at = name.lastIndex(of: "@"), let bits = Int(name[name.index(after: at)...]) {
            guard let speed = SerialSpeed(rawValue: bits) else {
                throw LinkError(.unsupported, "A PN532 has no speed of \(bits); it has \(SerialSpeed.list).")
            }
            path = String(name[..<at])
            self.speed = speed
        }
        guard !path.isEmpty else {
            throw LinkError(.unsupported, "Name the serial line of the PN532: pn532:/dev/ttyUSB0, for example.")
        }
    }
}

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
