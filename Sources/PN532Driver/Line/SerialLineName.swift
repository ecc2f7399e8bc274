// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A serial line as people name it: its path, and after `@` its speed.
struct SerialLineName: Sendable, Equatable {
    var path: String
    var speed = SerialSpeed.initial

    /// Reads a name.
    ///
    /// - Throws: ``LinkError`` with `unsupported` when there is no path, or the chip does not have the speed.
    init(_ name: String) throws(LinkError) {
        path = name
        // A path may have an @ of its own: only digits are a speed.
        if let at = name.lastIndex(of: "@"), let bits = Int(name[name.index(after: at)...]) {
            guard let speed = SerialSpeed(rawValue: bits) else {
                let known = SerialSpeed.allCases.map { String($0.rawValue) }.joined(separator: ", ")
                throw LinkError(.unsupported, "A PN532 has no speed of \(bits); it has \(known).")
            }
            path = String(name[..<at])
            self.speed = speed
        }
        guard !path.isEmpty else {
            throw LinkError(.unsupported, "Name the serial line of the PN532: pn532:/dev/ttyUSB0, for example.")
        }
    }
}
