// SPDX-License-Identifier: Apache-2.0

/// What a person can do to the sheet with the keyboard, read byte by byte.
///
/// The Escape key sends the same octet with which the arrow keys begin theirs. It is Escape when nothing follows soon:
/// the caller waits a moment while ``awaitsMore`` is true, and then calls ``timeOut()``.
package struct SheetKeyDecoder: Sendable {
    private enum State: Sendable {
        case ground
        case escape
        case sequence
        case singleShift
    }

    private var state = State.ground

    package init() {}

    /// Whether an octet came that is either the Escape key or the begin of another.
    package var awaitsMore: Bool { state == .escape }

    /// Takes an octet.
    ///
    /// - Returns: true when the person wants to cancel: q, Ctrl-C, or Escape twice.
    package mutating func cancels(_ byte: UInt8) -> Bool {
        switch (state, byte) {
        case (_, 0x03), (.escape, 0x1B):
            state = .ground
            return true
        case (.ground, 0x1B):
            state = .escape
        case (.ground, UInt8(ascii: "q")), (.ground, UInt8(ascii: "Q")):
            return true
        case (.escape, UInt8(ascii: "[")):
            state = .sequence
        case (.escape, UInt8(ascii: "O")):
            state = .singleShift
        case (.sequence, 0x20...0x3F):
            break
        default:
            state = .ground
        }
        return false
    }

    /// Says that nothing followed.
    ///
    /// - Returns: true when the last octet was the Escape key.
    package mutating func timeOut() -> Bool {
        defer { state = .ground }
        return state == .escape
    }
}
