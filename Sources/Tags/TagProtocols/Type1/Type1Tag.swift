// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A Type 1 tag from the reader's side: Topaz 96 and Topaz 512 (NFC Forum T1T 1.2).
///
/// ```swift
/// let tag = Type1Tag(link: link)
/// let message = try await tag.readNDEF()
/// ```
public final class Type1Tag: ForumTag {
    /// The tag's type: always Type 1.
    public var type: ForumTagType { .type1 }

    /// The tag's answer to RID; nil before RID was sent by ``prepare()`` or the first procedure.
    public internal(set) var target: Type1Target?

    /// The link to the tag.
    public let link: any FrameLink

    /// The seven bytes of the UID; nil before the memory was read.
    public var uid: [UInt8]? {
        memory[byte: 6] == nil ? nil : (0..<7).compactMap { memory[byte: $0] }
    }

    /// The memory that was read.
    var memory: TLVMemory
    /// The position of the message, once it was found.
    var layout: TLVLayout?
    /// The error that every procedure throws once the tag is lost.
    var lost: TagError?

    /// How often a command is repeated. All commands of this type may be repeated.
    static let retries = 2
    /// How long the tag may take to answer.
    static let answerTimeout = Airtime.milliseconds(2)
    /// How long the tag may take to write: 7 ms to erase and write (Topaz data sheet), and a tolerance.
    static let writeTimeout = Airtime.milliseconds(10)
    /// The largest memory that a capability container can describe.
    static let maximumSize = 2048

    /// Creates a tag.
    ///
    /// - Parameters:
    ///   - target: the tag's answer to RID, if it was sent.
    ///   - link: the NFC-A link to the tag.
    public init(target: Type1Target? = nil, link: any FrameLink) {
        self.link = link
        self.memory = TLVMemory(unitSize: 1, limit: Self.maximumSize)
        if let target { identified(target) }
    }

    /// Sends RID, unless it was sent before.
    public func prepare() async throws(TagError) {
        if let lost { throw lost }
        guard target == nil else { return }
        do throws(TagError) {
            identified(try await Type1Target.identify(link: link))
        } catch {
            if error.code == .tagLost { lost = error }
            throw error
        }
    }

    private func identified(_ target: Type1Target) {
        self.target = target
        memory = TLVMemory(unitSize: target.isStatic ? 1 : 8, limit: Self.maximumSize)
    }

    /// Whether the tag has static memory alone.
    var isStatic: Bool { target?.isStatic ?? true }

    /// Marks the tag as answering again. A Type 1 tag has no state to reset.
    public func wasActivated() {
        lost = nil
    }

    public func forgetMemory() {
        memory = TLVMemory(unitSize: memory.unitSize, limit: Self.maximumSize)
        layout = nil
    }

    /// Returns whether the tag still answers RID.
    ///
    /// - Returns: false when the tag is gone or another one is in its place.
    public func isPresent() async -> Bool {
        guard lost == nil else { return false }
        do throws(TagError) {
            let present = try await Type1Target.identify(link: link)
            return target == nil || present == target
        } catch {
            return false
        }
    }

    /// Sends a command followed by the UID, and repeats it until it is answered.
    ///
    /// - Parameters:
    ///   - bytes: the command and its parameters.
    ///   - answerLength: the number of bytes in the answer.
    ///   - timeout: how long the tag may take.
    func exchange(
        _ bytes: [UInt8],
        answerLength: Int,
        timeout: Airtime = Type1Tag.answerTimeout
    ) async throws(TagError) -> [UInt8] {
        try await prepare()
        let uid = target?.uid ?? []
        var failure = LinkError(.timeout, "The tag does not answer.")
        for _ in 0...Self.retries {
            do throws(LinkError) {
                let answer = try await link.transceive(Frame(bytes + uid, checksum: .crcB), timeout: timeout)
                guard answer.bytes.count == answerLength, answer.validBitsInLastByte == 8 else {
                    throw LinkError(
                        .protocolViolation,
                        "An answer has \(answer.bytes.count) bytes and has to have \(answerLength) (NFC Forum T1T 1.2, 5)."
                    )
                }
                return answer.bytes
            } catch {
                failure = error
                if TagError(fatal: error) != nil { break }
            }
        }
        let error = TagError(link: failure, over: .nfcA)
        if error.code == .tagLost { lost = error }
        throw error
    }
}

extension Type1Tag {
    /// Reads the memory from block 0 on.
    ///
    /// - Parameter count: the number of bytes, such as 120 or 512.
    /// - Returns: nil when the tag has fewer bytes.
    package func readBytes(_ count: Int) async throws(TagError) -> [UInt8]? {
        do throws(TagError) {
            try await fetch(0..<count)
        } catch {
            guard error.code == .lengthOverrun else { throw error }
            return nil
        }
        let bytes = (0..<count).compactMap { memory[byte: $0] }
        return bytes.count == count ? bytes : nil
    }
}
