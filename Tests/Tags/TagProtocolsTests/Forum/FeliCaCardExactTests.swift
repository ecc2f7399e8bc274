// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import TagProtocols

/// FeliCa commands for several services, and how long a card may take for each (FeliCa Card User's Manual, 2.3.2 and 4.4).
@Suite struct `FeliCa cards, command by command` {
    typealias Step = ScriptedLink.Step

    private static let idm = "02fe001122334455"
    /// A card whose commands all have times of their own.
    private static let pmm = "0000010a539ceeff"

    private static func card(_ step: Step) -> (FeliCaCard, ScriptedLink) {
        let link = ScriptedLink([step], technology: .nfcF)
        return (FeliCaCard(link: link, target: NFCFTarget(idm: bytes(idm), pmm: bytes(pmm), systemCode: nil)), link)
    }

    private static func time(_ units: Int64, exponent: Int64 = 0) -> Airtime {
        Airtime(carrierPeriods: units * 4096 << (2 * exponent)) + .milliseconds(1)
    }

    private static let block = String(repeating: "ab", count: 16)
    private static let other = String(repeating: "cd", count: 16)

    @Test func `Blocks of two services are read by one command, in the order of its list`() async throws {
        let request = "1506" + Self.idm + "02 0b00 0f10 02 8005 012301"
        let answer = "2d07" + Self.idm + "000002" + Self.block + Self.other
        let (card, link) = Self.card(.exchange(request, answer).within(Self.time(5 + 4 * 2, exponent: 2)))
        let result = try await card.read(
            services: [0x000B, 0x100F],
            blocks: [.init(block: 5), .init(block: 0x0123, service: 1)]
        )
        #expect(result == .success(bytes(Self.block + Self.other)) && link.remaining == 0)
    }

    @Test func `A block of the second service is written`() async throws {
        let request = "2208" + Self.idm + "02 0900 0910 01 8101" + Self.block
        let (card, link) = Self.card(
            .exchange(request, "0c09" + Self.idm + "ff70").within(Self.time(7 + 6, exponent: 3))
        )
        let status = try await card.write(
            services: [0x0009, 0x1009],
            blocks: [.init(block: 1, service: 1)],
            data: bytes(Self.block)
        )
        #expect(status == .init(flag1: 0xFF, flag2: 0x70) && !status.isSuccess && link.remaining == 0)
    }

    @Test func `Key versions are those of the nodes in their order`() async throws {
        let (card, link) = Self.card(
            .exchange("1102" + Self.idm + "03 0b00 0900 3412", "1103" + Self.idm + "03 0100 3412 ffff")
                .within(Self.time(2 + 3))
        )
        #expect(try await card.requestService([0x000B, 0x0009, 0x1234]) == [1, 0x1234, 0xFFFF])
        #expect(link.remaining == 0)
    }

    @Test func `The system codes and the mode come in the card's fixed time`() async throws {
        let (card, link) = Self.card(
            .exchange("0a0c" + Self.idm, "0f0d" + Self.idm + "02 fe00 12fc").within(Self.time(3))
        )
        #expect(try await card.requestSystemCodes() == [0xFE00, 0x12FC] && link.remaining == 0)
        let (other, rest) = Self.card(.exchange("0a04" + Self.idm, "0b05" + Self.idm + "03").within(Self.time(3)))
        #expect(try await other.requestResponse() == 3 && rest.remaining == 0)
    }
}
