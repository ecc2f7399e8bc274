// SPDX-License-Identifier: Apache-2.0

/// What nfcpy calls a PN532 on a serial line, such as `tty:USB0:pn532` (nfcpy 1.0.4, `nfc.clf.transport.TTY.find`).
struct NfcpyPath {
    /// The name, for `nfc.ContactlessFrontend`.
    let text: String

    /// Finds the name of a line.
    ///
    /// Lines of four kinds go by their kind and number, such as USB0 for /dev/ttyUSB0; others by their whole name.
    ///
    /// - Parameter line: the line's path.
    /// - Returns: nil when nfcpy has no name for it: it takes files of /dev itself, of ASCII letters, digits and hyphens.
    init?(line: String) {
        guard line.hasPrefix("/dev/") else { return nil }
        let name = line.dropFirst(5)
        let isPlain = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
        guard !name.isEmpty, isPlain else { return nil }
        if name.hasPrefix("tty"), Self.isNumbered(name.dropFirst(3)) {
            text = "tty:\(name.dropFirst(3)):pn532"
            return
        }
        // These mean other files.
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
