// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A FeliCa card or Type 3 tag, with the unencrypted commands that it supports (FeliCa Card User's Manual, 4.4; NFC
/// Forum T3T 1.0, 5).
///
/// A command is sent up to two more times if the answer is missing or damaged.
public struct FeliCaCard: Sendable {
    /// The link over which the card was found.
    public let link: any FrameLink
    /// The card's data from polling.
    public let target: NFCFTarget

    /// The maximum number of times that a command is sent.
    private static let attempts = 3

    /// Creates a card.
    public init(link: any FrameLink, target: NFCFTarget) {
        self.link = link
        self.target = target
    }

    /// The two status flags in answers to block commands. 00 00 means success.
    public struct Status: Error, Sendable, Hashable, CustomStringConvertible {
        /// 00 for success, FF for an error of the whole command, or the number of the block with the error.
        public var flag1: UInt8
        /// The kind of error, usually A1 to A9 or 70 to 72.
        public var flag2: UInt8

        /// Whether the command succeeded.
        public var isSuccess: Bool { flag1 == 0 }

        public var description: String {
            "status flags \(String(flag1, radix: 16)) \(String(flag2, radix: 16))"
        }
    }

    /// The bytes of a command: LEN, the code, which is even, the IDm, and at most 245 bytes of parameters.
    public func command(_ code: UInt8, _ parameters: [UInt8] = []) -> [UInt8] {
        precondition(parameters.count <= 245, "a FeliCa command has at most 255 bytes")
        return [UInt8(10 + parameters.count), code] + target.idm + parameters
    }

    /// Sends a command built by ``command(_:_:)``, and checks the length, response code and IDm of the answer.
    /// `timeout` is how long the card may take.
    ///
    /// - Returns: the answer's bytes after the IDm.
    /// - Throws: ``TagError`` with `tagLost`, `badAnswer`, `readerUnavailable`, `unsupported`, `cancelled`.
    public func send(_ code: UInt8, _ parameters: [UInt8] = [], timeout: Airtime) async throws(TagError) -> [UInt8] {
        let request = Frame(command(code, parameters))
        let bytes: [UInt8]
        do throws(LinkError) {
            bytes = try await link.transceive(request, timeout: timeout + Self.tolerance, attempts: Self.attempts).bytes
        } catch {
            throw TagError(link: error, over: .nfcF)
        }
        guard bytes.count >= 10, Int(bytes[0]) == bytes.count, bytes[1] == code &+ 1 else {
            throw TagError(
                .badAnswer,
                "An answer does not begin with its length, response code and IDm (JIS X 6319-4; NFC Forum T3T 1.0, 5)."
            )
        }
        guard Array(bytes[2..<10]) == target.idm else {
            throw TagError(.tagLost, "A card with a different IDm has replaced the card.")
        }
        return Array(bytes[10...])
    }

    /// The tolerance that the reader adds to a maximum response time.
    static let tolerance = Airtime.milliseconds(1)

    /// Reads blocks of a service that needs no authentication, with Read Without Encryption.
    ///
    /// - Returns: 16 bytes for each block, or the status flags when the card refused.
    /// - Throws: the errors of ``send(_:_:timeout:)``.
    public func read(service: UInt16, blocks: [Int]) async throws(TagError) -> Result<[UInt8], Status> {
        let answer = try await send(
            0x06,
            Self.lists(service, blocks),
            timeout: target.maximumResponseTime(.read, count: blocks.count)
        )
        let status = try Self.status(answer)
        guard status.isSuccess else { return .failure(status) }
        guard answer.count == 3 + 16 * blocks.count, Int(answer[2]) == blocks.count else {
            throw TagError(
                .badAnswer,
                "The answer to a read of \(blocks.count) blocks has \(answer.count) bytes (NFC Forum T3T 1.0, 5.4)."
            )
        }
        return .success(Array(answer[3...]))
    }

    /// Writes blocks of a service that needs no authentication, with Write Without Encryption.
    ///
    /// - Returns: the status flags of the answer.
    /// - Throws: the errors of ``send(_:_:timeout:)``.
    public func write(service: UInt16, blocks: [Int], data: [UInt8]) async throws(TagError) -> Status {
        let answer = try await send(
            0x08,
            Self.lists(service, blocks) + data,
            timeout: target.maximumResponseTime(.write, count: blocks.count)
        )
        return try Self.status(answer)
    }

    /// Returns the service list and the block list. A block number up to 255 takes two bytes; a higher one takes three
    /// bytes, little endian (NFC Forum T3T 1.0, 5.6).
    private static func lists(_ service: UInt16, _ blocks: [Int]) -> [UInt8] {
        let elements = blocks.flatMap { block -> [UInt8] in
            block < 256 ? [0x80, UInt8(block)] : [0x00] + [UInt8](littleEndian: block, count: 2)
        }
        return [1] + service.littleEndianBytes + [UInt8(blocks.count)] + elements
    }

    private static func status(_ answer: [UInt8]) throws(TagError) -> Status {
        guard answer.count >= 2 else {
            throw TagError(.badAnswer, "An answer has no status flags (NFC Forum T3T 1.0, 5).")
        }
        return Status(flag1: answer[0], flag2: answer[1])
    }
}
