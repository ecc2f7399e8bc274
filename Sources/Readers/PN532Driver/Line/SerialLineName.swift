// SPDX-License-Identifier: Apache-2.0
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
        if let at = name.lastIndex(of: "@"), name[at...].dropFirst().utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let bits = Int(name[name.index(after: at)...])
        {
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
