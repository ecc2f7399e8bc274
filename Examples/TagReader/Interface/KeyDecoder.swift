// SPDX-License-Identifier: Apache-2.0

/// A key of a terminal, or an event that is handled as one.
enum Key: Sendable, Equatable {
    case up, down, pageUp, pageDown, home, end, enter, escape, delete
    case character(Character)
    /// Ctrl-C.
    case interrupt
    /// Ctrl-Z.
    case suspend
    /// Ctrl-L: draw the screen again.
    case redraw
    /// Standard input has ended.
    case closed
}

/// Decodes the bytes of a terminal into keys.
///
/// The Escape key sends the byte that also begins the sequences of the arrow keys. It is the Escape key if no byte follows
/// soon: while ``awaitsMore`` is true, the caller waits a moment and then calls ``timeOut()``.
struct KeyDecoder {
    private enum State {
        case ground
        case escape
        /// After `ESC [`: the bytes before the last.
        case sequence([UInt8])
        /// After `ESC O`.
        case singleShift
    }

    private var state = State.ground

    /// Whether the last byte may be the beginning of a sequence.
    var awaitsMore: Bool { if case .ground = state { false } else { true } }

    /// Takes a byte.
    ///
    /// - Returns: the keys that are complete with it.
    mutating func take(_ byte: UInt8) -> [Key] {
        switch state {
        case .ground:
            guard byte == 0x1B else { return Self.key(byte).map { [$0] } ?? [] }
            state = .escape
            return []
        case .escape:
            switch byte {
            case UInt8(ascii: "["): state = .sequence([])
            case UInt8(ascii: "O"): state = .singleShift
            case 0x1B: return [.escape]
            default:
                state = .ground
                return [.escape] + take(byte)
            }
            return []
        case .sequence(let bytes):
            guard (0x20...0x3F).contains(byte) else {
                state = .ground
                return Self.key(byte, behind: bytes).map { [$0] } ?? []
            }
            // No key has more bytes.
            state = .sequence(bytes.count < 16 ? bytes + [byte] : bytes)
            return []
        case .singleShift:
            state = .ground
            return (byte == UInt8(ascii: "M") ? .enter : Self.key(byte, behind: [])).map { [$0] } ?? []
        }
    }

    /// Ends a sequence after which no byte followed.
    ///
    /// - Returns: the Escape key, when the last byte was that.
    mutating func timeOut() -> [Key] {
        defer { state = .ground }
        if case .escape = state { return [.escape] }
        return []
    }

    private static func key(_ byte: UInt8) -> Key? {
        switch byte {
        case 0x0A, 0x0D: .enter
        case 0x03: .interrupt
        case 0x04: .closed
        case 0x0C: .redraw
        case 0x1A: .suspend
        case 0x20...0x7E: .character(Character(Unicode.Scalar(byte)))
        default: nil
        }
    }

    /// The key of a sequence (ECMA-48; terminals differ for Home and End).
    private static func key(_ last: UInt8, behind bytes: [UInt8]) -> Key? {
        switch last {
        case UInt8(ascii: "A"): return .up
        case UInt8(ascii: "B"): return .down
        case UInt8(ascii: "H"): return .home
        case UInt8(ascii: "F"): return .end
        case UInt8(ascii: "~"): break
        default: return nil
        }
        switch String(decoding: bytes.prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self) {
        case "1", "7": return .home
        case "3": return .delete
        case "4", "8": return .end
        case "5": return .pageUp
        case "6": return .pageDown
        default: return nil
        }
    }
}
