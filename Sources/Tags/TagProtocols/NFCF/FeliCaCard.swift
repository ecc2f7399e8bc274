// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A FeliCa card or Type 3 tag, with the unencrypted commands that it supports (FeliCa Card User's Manual, 4.4; NFC
/// Forum T3T 1.0, 5).
///
/// A command without an answer, or with a damaged one, is sent up to two more times. All of these commands may be
/// repeated.
public struct FeliCaCard: Sendable {
    /// The link that the card was found over.
    public let link: any FrameLink
    /// The card.
    public let target: NFCFTarget

    /// How often a command is repeated.
    static let retries = 2

    /// Creates a card.
    public init(link: any FrameLink, target: NFCFTarget) {
        self.link = link
        self.target = target
    }

    /// The two status flags in answers to block commands. 00 00 means success.
    public struct Status: Error, Sendable, Hashable, CustomStringConvertible {
        /// 00 for success, FF for an error of the whole command, or the number of the block with the error.
        public var flag1: UInt8
        /// The kind of error. A1 to A9 and 70 to 72 are the common ones.
        public var flag2: UInt8

        /// Whether the command succeeded.
        public var isSuccess: Bool { flag1 == 0 }

        public var description: String {
            "status flags \(String(flag1, radix: 16)) \(String(flag2, radix: 16))"
        }
    }

    /// Sends any command, and checks the length, response code and IDm of the answer.
    ///
    /// - Parameters:
    ///   - command: the command's bytes from LEN on; see ``FeliCaCommand``.
    ///   - timeout: how long the card may take.
    /// - Returns: the answer's bytes after the IDm.
    /// - Throws: ``TagError`` with `tagLost`, `badAnswer`, `readerUnavailable`, `unsupported`, `cancelled`.
    public func send(_ command: [UInt8], timeout: Airtime) async throws(TagError) -> [UInt8] {
        var failure = TagError(.tagLost, "The card does not answer.")
        for _ in 0...Self.retries {
            let bytes: [UInt8]
            do throws(LinkError) {
                bytes = try await link.transceive(Frame(command), timeout: timeout + Self.tolerance).bytes
            } catch {
                if let fatal = TagError(fatal: error) { throw fatal }
                failure = TagError(link: error, over: .nfcF)
                continue
            }
            let code = command.count > 1 ? command[1] &+ 1 : 0
            guard bytes.count >= 10, Int(bytes[0]) == bytes.count, bytes[1] == code else {
                throw TagError(
                    .badAnswer,
                    "An answer does not begin with its length, response code and IDm (JIS X 6319-4; NFC Forum T3T 1.0, 5)."
                )
            }
            guard Array(bytes[2..<10]) == target.idm else {
                throw TagError(.tagLost, "A card with another IDm is in the card's place.")
            }
            return Array(bytes[10...])
        }
        throw failure
    }

    /// The reader's tolerance in addition to a maximum response time.
    static let tolerance = Airtime.milliseconds(1)

    /// Reads blocks of services that need no authentication.
    ///
    /// - Returns: 16 bytes for each block, or the status flags when the card refused.
    /// - Throws: the errors of ``send(_:timeout:)``.
    public func read(
        services: [UInt16],
        blocks: [FeliCaCommand.BlockElement]
    ) async throws(TagError) -> Result<[UInt8], Status> {
        let answer = try await send(
            FeliCaCommand.read(idm: target.idm, services: services, blocks: blocks),
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

    /// Writes blocks of services that need no authentication.
    ///
    /// - Returns: the status flags of the answer.
    /// - Throws: the errors of ``send(_:timeout:)``.
    public func write(
        services: [UInt16],
        blocks: [FeliCaCommand.BlockElement],
        data: [UInt8]
    ) async throws(TagError) -> Status {
        let answer = try await send(
            FeliCaCommand.write(idm: target.idm, services: services, blocks: blocks, data: data),
            timeout: target.maximumResponseTime(.write, count: blocks.count)
        )
        return try Self.status(answer)
    }

    /// Requests the key versions of areas and services. FFFF means that the card does not have one.
    ///
    /// - Throws: the errors of ``send(_:timeout:)``.
    public func requestService(_ nodes: [UInt16]) async throws(TagError) -> [UInt16] {
        let answer = try await send(
            FeliCaCommand.requestService(idm: target.idm, nodes: nodes),
            timeout: target.maximumResponseTime(.requestService, count: nodes.count)
        )
        guard answer.count == 1 + 2 * nodes.count, Int(answer[0]) == nodes.count else {
            throw TagError(
                .badAnswer,
                "The answer to Request Service has the wrong number of key versions (FeliCa Card User's Manual, 4.4.3)."
            )
        }
        return nodes.indices.map { UInt16(high: answer[2 + 2 * $0], low: answer[1 + 2 * $0]) }
    }

    /// Requests the card's mode, 0 to 3.
    ///
    /// - Throws: the errors of ``send(_:timeout:)``.
    public func requestResponse() async throws(TagError) -> UInt8 {
        let answer = try await send(
            FeliCaCommand.requestResponse(idm: target.idm),
            timeout: target.maximumResponseTime(.fixed, count: 0)
        )
        guard answer.count == 1 else {
            throw TagError(
                .badAnswer,
                "The answer to Request Response is not one byte of mode (FeliCa Card User's Manual, 4.4.4)."
            )
        }
        return answer[0]
    }

    /// Requests the system codes on the card.
    ///
    /// - Throws: the errors of ``send(_:timeout:)``.
    public func requestSystemCodes() async throws(TagError) -> [UInt16] {
        let answer = try await send(
            FeliCaCommand.requestSystemCode(idm: target.idm),
            timeout: target.maximumResponseTime(.fixed, count: 0)
        )
        guard let count = answer.first, answer.count == 1 + 2 * Int(count) else {
            throw TagError(
                .badAnswer,
                "The answer to Request System Code has the wrong number of codes (FeliCa Card User's Manual, 4.4.8)."
            )
        }
        return (0..<Int(count)).map { (index: Int) -> UInt16 in
            UInt16(high: answer[1 + 2 * index], low: answer[2 + 2 * index])
        }
    }

    private static func status(_ answer: [UInt8]) throws(TagError) -> Status {
        guard answer.count >= 2 else {
            throw TagError(.badAnswer, "An answer has no status flags (NFC Forum T3T 1.0, 5).")
        }
        return Status(flag1: answer[0], flag2: answer[1])
    }
}

/// The bytes of FeliCa commands, from LEN on (FeliCa Card User's Manual, 4; JIS X 6319-4).
///
/// Use a ``FeliCaLiteSSession`` to authenticate a Lite-S whose card key is known.
public enum FeliCaCommand {
    /// A block in a service: the index of the service in the command's list, and the block's number.
    public struct BlockElement: Sendable, Hashable {
        /// The index of the service in the command's list, 0 to 15.
        public var service: UInt8
        /// The block's number.
        public var block: UInt16
        /// The access mode, 0 to 7: 0 for reading and writing, 1 for cashback to a purse.
        public var accessMode: UInt8

        /// Creates an element.
        public init(block: UInt16, service: UInt8 = 0, accessMode: UInt8 = 0) {
            self.block = block
            self.service = service
            self.accessMode = accessMode
        }

        /// Two bytes for blocks up to 255, otherwise three, with the block number little endian (NFC Forum T3T 1.0,
        /// 5.6).
        public var bytes: [UInt8] {
            let head = (accessMode & 7) << 4 | service & 0x0F
            return block < 256
                ? [0x80 | head, UInt8(block)]
                : [head, UInt8(block & 0xFF), UInt8(block >> 8)]
        }
    }

    /// Builds a command from LEN, the code, the IDm and parameters.
    ///
    /// - Parameters:
    ///   - code: the command code, which is even.
    ///   - idm: the IDm of the card.
    ///   - parameters: the bytes after the IDm, at most 245.
    public static func make(_ code: UInt8, idm: [UInt8], _ parameters: [UInt8] = []) -> [UInt8] {
        let count = 2 + idm.count + parameters.count
        precondition(count <= 255, "a FeliCa command has at most 255 bytes")
        return [UInt8(count), code] + idm + parameters
    }

    /// Request Service: the key versions of areas and services; FFFF for one that does not exist.
    public static func requestService(idm: [UInt8], nodes: [UInt16]) -> [UInt8] {
        make(0x02, idm: idm, [UInt8(nodes.count)] + nodes.flatMap(\.littleEndianBytes))
    }

    /// Request Response: whether the card is present, and its mode.
    public static func requestResponse(idm: [UInt8]) -> [UInt8] {
        make(0x04, idm: idm)
    }

    /// Read Without Encryption, which NFC Forum T3T 1.0, 5.4 calls CHECK.
    public static func read(idm: [UInt8], services: [UInt16], blocks: [BlockElement]) -> [UInt8] {
        make(0x06, idm: idm, lists(services, blocks))
    }

    /// Write Without Encryption, which NFC Forum T3T 1.0, 5.5 calls UPDATE.
    ///
    /// `data` has 16 bytes for each block.
    public static func write(
        idm: [UInt8],
        services: [UInt16],
        blocks: [BlockElement],
        data: [UInt8]
    ) -> [UInt8] {
        make(0x08, idm: idm, lists(services, blocks) + data)
    }

    /// Request System Code: all systems on the card.
    public static func requestSystemCode(idm: [UInt8]) -> [UInt8] {
        make(0x0C, idm: idm)
    }

    /// Request Service v2: key versions for DES and AES.
    public static func requestServiceV2(idm: [UInt8], nodes: [UInt16]) -> [UInt8] {
        make(0x32, idm: idm, [UInt8(nodes.count)] + nodes.flatMap(\.littleEndianBytes))
    }

    /// Request Specification Version.
    public static func requestSpecificationVersion(idm: [UInt8]) -> [UInt8] {
        make(0x3C, idm: idm, [0x00, 0x00])
    }

    /// Reset Mode.
    public static func resetMode(idm: [UInt8]) -> [UInt8] {
        make(0x3E, idm: idm, [0x00, 0x00])
    }

    private static func lists(_ services: [UInt16], _ blocks: [BlockElement]) -> [UInt8] {
        var lists = [UInt8(services.count)]
        for service in services { lists += service.littleEndianBytes }
        lists.append(UInt8(blocks.count))
        for block in blocks { lists += block.bytes }
        return lists
    }
}
