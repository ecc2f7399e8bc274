// SPDX-License-Identifier: Apache-2.0

/// The name of a reader as `NFC_READER` and `--reader` have it, such as `pn532:/dev/ttyUSB0`.
package struct ReaderName: Sendable, Hashable {
    /// The whole name.
    package let text: String
    /// What says the kind: everything before the first colon.
    package let scheme: String
    /// What follows the first colon; nil without a colon.
    package let rest: String?

    /// Creates a name.
    package init(_ text: String) {
        self.text = text
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        scheme = parts[0]
        rest = parts.count == 2 ? parts[1] : nil
    }

    /// What follows the first colon; nil when nothing does.
    var argument: String? { rest.flatMap { $0.isEmpty ? nil : $0 } }
}
