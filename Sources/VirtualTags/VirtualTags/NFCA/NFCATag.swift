// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A virtual NFC-A tag that can be activated, but answers no commands, such as one from a dump without memory.
public final class NFCATag: VirtualTag {
    /// The data of the tag.
    public let contents: NFCAContents
    private let listener: Locked<NFCAListener>

    /// Creates a tag. Its UID must have 4, 7 or 10 bytes.
    public init(_ contents: NFCAContents) {
        precondition([4, 7, 10].contains(contents.uid.count), "a UID of NFC-A has 4, 7 or 10 bytes")
        self.contents = contents
        listener = Locked(NFCAListener(uid: contents.uid, atqa: contents.atqa, sak: contents.sak))
    }

    public var technology: Technology { .nfcA }

    public var identifier: [UInt8] { contents.uid }

    public func answer(_ request: Frame, injectedFault: InjectedFault?) -> TagAnswer? {
        listener.withLock { listener in
            switch listener.receive(request) {
            case .answer(let answer), .woken(let answer): return TagAnswer(answer)
            case .command, .damaged:
                listener.deselect()
                return nil
            case .silence: return nil
            }
        }
    }

    public func losePower() {
        listener.withLock { $0.reset() }
    }
}

/// The data of an NFC-A tag of which only the activation is known.
public struct NFCAContents: Sendable, Hashable {
    /// The UID, 4, 7 or 10 bytes.
    public var uid: [UInt8]
    /// ATQA. The low byte is sent first.
    public var atqa: UInt16
    /// SAK.
    public var sak: UInt8

    /// Creates contents.
    public init(uid: [UInt8], atqa: UInt16, sak: UInt8) {
        self.uid = uid
        self.atqa = atqa
        self.sak = sak
    }
}
