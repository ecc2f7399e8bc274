// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A tag in memory that answers frames like a real chip.
///
/// A virtual tag speaks one technology. It gets each frame as it is sent on the air, including those of the activation,
/// and returns its answer. When the field is switched off, it loses its volatile state, but not its memory.
///
/// Conforming types protect their own state: a field delivers one frame at a time, but any thread may read the tag's
/// memory in between. A tag must not call the field that it is in.
public protocol VirtualTag: AnyObject, Sendable {
    /// The technology of the tag.
    var technology: Technology { get }

    /// The identifier that the tag sends during its activation: the UID of NFC-A and NFC-V, the PUPI of NFC-B, the
    /// NFCID2 of NFC-F.
    var identifier: [UInt8] { get }

    /// Returns whether a reader means this tag by an identifier.
    ///
    /// By default, it has to be equal to ``identifier``. A tag that sends only a part of it in some commands also
    /// accepts that part.
    ///
    /// - Parameter identifier: the identifier that the reader received.
    func answers(to identifier: [UInt8]) -> Bool

    /// Handles a frame from the reader.
    ///
    /// - Parameters:
    ///   - request: the frame from the reader. If `checksum` is not `.none`, the correct checksum of that kind is sent
    ///     after `bytes`. With `.none`, `bytes` are everything, and the tag has to check whether the last two are a
    ///     correct checksum, with `Frame.payload(checkedBy:)`.
    ///   - injectedFault: the effect of a fault on the tag in this exchange; nil without one.
    /// - Returns: the answer; nil when the tag does not answer and has not programmed its memory.
    func answer(_ request: Frame, injectedFault: InjectedFault?) -> TagAnswer?

    /// The field was switched off: resets all volatile state.
    func losePower()
}

extension VirtualTag {
    public func answers(to identifier: [UInt8]) -> Bool { self.identifier == identifier }
}

extension [UInt8] {
    /// Programs bytes at an offset, or the part of them that a power cut allows.
    ///
    /// The range must be inside the memory.
    package mutating func program(
        _ bytes: [UInt8],
        at offset: Int,
        tear: TornWrite?,
        unit: Int,
        isProtected: Bool = false
    ) {
        let range = offset..<(offset + bytes.count)
        var bytes = bytes
        if let tear {
            bytes = tear.remains(of: Array(self[range]), under: bytes, unit: unit, isProtected: isProtected)
        }
        replaceSubrange(range, with: bytes)
    }
}
