// SPDX-License-Identifier: Apache-2.0

/// nfcpy's name of a PN532 on a serial line, such as `tty:USB0:pn532` (nfcpy 1.0.4, `nfc.clf.transport.TTY.find`).
package struct NfcpyPath {
    /// The name, for `nfc.ContactlessFrontend`.
    package let text: String

    /// Finds the name of a line.
    ///
    /// Lines of four kinds have their kind and number as a name, such as USB0 for /dev/ttyUSB0; others their whole name.
    ///
    /// - Parameter line: the line's path.
    /// - Returns: nil when nfcpy has no name for it. nfcpy takes files directly in /dev, of ASCII letters, digits and hyphens.
    package init?(line: String) {
        guard line.hasPrefix("/dev/") else { return nil }
        let name = line.dropFirst(5)
        let isPlain = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
        guard !name.isEmpty, isPlain else { return nil }
        if name.hasPrefix("tty"), Self.isNumbered(name.dropFirst(3)) {
            text = "tty:\(name.dropFirst(3)):pn532"
            return
        }
        // nfcpy reads these names as other files.
        let isTaken = Self.isNumbered(name) || Self.kinds.contains { $0 == name } || name.hasPrefix("usbserial")
        guard !isTaken else { return nil }
        text = "tty:\(name):pn532"
    }

    private static let kinds = ["S", "ACM", "AMA", "USB"]

    /// Whether a name is a kind and a number.
    private static func isNumbered(_ name: Substring) -> Bool {
        kinds.contains { kind in
            let number = name.dropFirst(kind.count)
            return name.hasPrefix(kind) && !number.isEmpty && number.allSatisfy(\.isNumber)
        }
    }
}
