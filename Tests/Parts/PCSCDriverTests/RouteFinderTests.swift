// SPDX-License-Identifier: Apache-2.0
import PCSCDriver
import TagLink
import Testing

/// Checks which way to a tag is found, and when there is none.
struct RouteFinderTests {
    private static let type1Answer = [UInt8](hex: "3B8F8001804F0CA000000306 03F004 00000000 00")
    private static let traverse = "fffd04010302200000"
    private static let inventory = "fffd05010326010000"

    private static func tags(
        _ service: ScriptedService,
        systemCodes: [UInt16] = []
    ) async throws(LinkError) -> [DiscoveredTag] {
        try await PCSCReader(.first, layer: service).discover(Set(Technology.allCases), systemCodes: systemCodes)
    }

    @Test("A Type 1 tag is none without a chip, since no other way has its frames")
    func type1() async throws {
        let service = SampleCards.service(Self.type1Answer, table: ["ffca000000": "01020304 9000"])
        #expect(try await Self.tags(service).isEmpty)
        #expect(!service.commands.contains { $0.hasPrefix("ffc2") })
        let table = ["ffca000000": "01020304 9000", "ff00000002d402": "d50332010607 9000"]
        let tag = try await Self.tags(SampleCards.service(Self.type1Answer, table: table)).first
        #expect(tag?.identity == .nfcA(atqa: 0x0C00, sak: nil, uid: [1, 2, 3, 4]))
    }

    @Test("A Type 1 tag that leaves while the chip is asked for does not make the reader one without a chip")
    func leavesBeforeTheChip() async throws {
        let chip = "ff00000002d402"
        let table = ["ffca000000": "01020304 9000", chip: "d50332010607 9000"]
        let hasLeft = Locked<Bool?>(nil)
        let service = SampleCards.service(Self.type1Answer) { command throws(SmartCardError) in
            if command.hex == chip { hasLeft.withLock { $0 = $0 ?? true } }
            if hasLeft.withLock({ $0 }) == true { throw SmartCardError(.removedCard, "SCardTransmit") }
            return [UInt8](hex: table[command.hex] ?? "6a81")
        }
        let reader = PCSCReader(.first, layer: service)
        await #expect(throws: LinkError(.transmission, "")) { _ = try await reader.discover([.nfcA], systemCodes: []) }
        hasLeft.withLock { $0 = false }
        #expect(try await reader.discover([.nfcA], systemCodes: []).count == 1)
    }

    @Test("A tag that leaves while its way is looked for does not make the reader one without that way")
    func leaves() async throws {
        let table = [
            "ffca000000": "e004015000112233 9000", "ffc2000002810000": "c003009000 9000",
            "ffc20002048f02020300": "c003009000 9000",
        ]
        let isGone = Locked(true)
        let service = SampleCards.service(SampleCards.vicinityAnswer) { command throws(SmartCardError) in
            if command.hex.hasPrefix("ffc2"), isGone.withLock({ $0 }) {
                throw SmartCardError(.removedCard, "SCardTransmit")
            }
            return [UInt8](hex: table[command.hex] ?? "6a81")
        }
        let reader = PCSCReader(.first, layer: service)
        await #expect(throws: LinkError(.transmission, "")) { _ = try await reader.discover([.nfcV], systemCodes: []) }
        isGone.withLock { $0 = false }
        let tag = try #require(try await reader.discover([.nfcV], systemCodes: []).first)
        guard case .frames(let link) = tag.port else { throw LinkError(.unsupported, "no frames") }
        #expect(link.countsAir)
    }

    @Test(
        "An ISO/IEC 15693 tag whose UID nothing reports is none: it is silent, refuses, or is not to be asked",
        arguments: [
            "6401", "9000", "0155332211001500 04E0 9000", "00553322110015 04E0 9000", "005533221100150004E000 9000",
        ]
    )
    func withoutIdentifier(answer: String) async throws {
        let asked = SampleCards.service(
            SampleCards.vicinityAnswer,
            table: [Self.traverse: "00 E1400D01 9000", Self.inventory: answer]
        )
        #expect(try await Self.tags(asked).isEmpty)
        #expect(asked.commands.last == Self.inventory)
        let storage = SampleCards.service(SampleCards.vicinityAnswer, table: ["ffb0000004": "01020304 9000"])
        #expect(try await Self.tags(storage).isEmpty)
    }

    @Test(
        "A FeliCa card that does not say its system has the one that was asked for, and any is asked for without one",
        arguments: [
            ([0x12FC], "12fc", "12", "", 0x12FC), ([], "ffff", "14", "88b4", 0x88B4), ([], "ffff", "12", "", 0xFFFF),
        ] as [([UInt16], String, String, String, UInt16)]
    )
    func felica(codes: [UInt16], asked: String, length: String, system: String, wanted: UInt16) async throws {
        let idm = "02fe001122334455"
        let service = SampleCards.service(
            SampleCards.felicaAnswer,
            table: [
                "ffca000000": idm + "9000", "ff00000002d402": "d50332010607 9000",
                "ff00000008d4420600" + asked + "0100": "d54300" + length + "01" + idm + "00f1000000014300" + system
                    + "9000",
            ]
        )
        let tag = try await Self.tags(service, systemCodes: codes).first
        let pmm = [UInt8](hex: "00f1000000014300")
        #expect(tag?.identity == .nfcF(idm: [UInt8](hex: idm), pmm: pmm, systemCode: wanted))
    }
}
