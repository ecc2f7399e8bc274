// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// One FeliCa card or Type 3 tag, and the commands without encryption that it takes
/// (FeliCa Card User's Manual, 4.4; NFC Forum T3T 1.0, 5).
///
/// A command that is not answered, or whose answer is damaged, is sent again twice. All of them may be repeated.
public struct FeliCaCard: Sendable {
    /// The link over which the card was found.
    public let link: any FrameLink
    /// The card.
    public let target: NFCFTarget

    /// How often a command is tried again.
    static let retries = 2

    /// Takes over a card.
    public init(link: any FrameLink, target: NFCFTarget) {
        self.link = link
        self.target = target
    }

    /// The two status flags in answers to commands on blocks: 00 00 is done.
    public struct Status: Error, Sendable, Hashable, CustomStringConvertible {
        /// 00, FF for the whole command, or the block concerned.
        public var flag1: UInt8
        /// What is wrong: A1 to A9 and 70 to 72 are the common ones.
        public var flag2: UInt8

        /// Whether the command was done.
        public var isSuccess: Bool { flag1 == 0 }

        public var description: String {
            "status flags \(String(flag1, radix: 16)) \(String(flag2, radix: 16))"
        }
    }

    /// Sends any command and checks the answer's length, response code and IDm.
    ///
    /// - Parameters:
    ///   - command: the command's bytes from LEN on, see ``FeliCaCommand``.
    ///   - timeout: how long the card may take.
    /// - Returns: what follows IDm in the answer.
    /// - Throws: ``TagError`` with `tagLost`, `badAnswer`, `readerUnavailable`, `unsupported`, `cancelled`.
    public func send(_ command: [UInt8], timeout: Airtime) async throws(TagError) -> [UInt8] {
        var failure = TagError(.tagLost, "The card does not answer.")
        for _ in 0...Self.retries {
            let octets: [UInt8]
            do throws(LinkError) {
                octets = try await link.transceive(Frame(command), timeout: timeout + Self.tolerance).bytes
            } catch {
                if let fatal = TagError(fatal: error) { throw fatal }
                failure = TagError(link: error, over: .nfcF)
                continue
            }
            let code = command.count > 1 ? command[1] &+ 1 : 0
            guard octets.count >= 10, Int(octets[0]) == octets.count, octets[1] == code else {
                throw TagError(
                    .badAnswer,
                    "An answer does not begin with its length, response code and IDm (JIS X 6319-4; NFC Forum T3T 1.0, 5)."
                )
            }
            guard Array(octets[2..<10]) == target.idm else {
                throw TagError(.tagLost, "A card with another IDm is in the card's place.")
            }
            return Array(octets[10...])
        }
        throw failure
    }

    /// The reader's tolerance on top of a maximum response time.
    static let tolerance = Airtime.milliseconds(1)

    /// Reads blocks of services that need no authentication.
    ///
    /// - Returns: 16 bytes for each block; or the status with which the card refused.
    /// - Throws: ``TagError`` as ``send(_:timeout:)`` does.
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
                "The answer to a read of \(blocks.count) blocks has \(answer.count) octets (NFC Forum T3T 1.0, 5.4)."
            )
        }
        return .success(Array(answer[3...]))
    }

    /// Writes blocks of services that need no authentication.
    ///
    /// - Returns: the status with which the card answered.
    /// - Throws: ``TagError`` as ``send(_:timeout:)`` does.
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

    /// The key versions of areas and services; FFFF where the card has none.
    ///
    /// - Throws: ``TagError`` as ``send(_:timeout:)`` does.
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

    /// The card's mode, 0 to 3.
    ///
    /// - Throws: ``TagError`` as ``send(_:timeout:)`` does.
    public func requestResponse() async throws(TagError) -> UInt8 {
        let answer = try await send(
            FeliCaCommand.requestResponse(idm: target.idm),
            timeout: target.maximumResponseTime(.fixed, count: 0)
        )
        guard answer.count == 1 else {
            throw TagError(
                .badAnswer,
                "The answer to Request Response is not one octet of mode (FeliCa Card User's Manual, 4.4.4)."
            )
        }
        return answer[0]
    }

    /// The systems on the card.
    ///
    /// - Throws: ``TagError`` as ``send(_:timeout:)`` does.
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
