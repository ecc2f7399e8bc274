// SPDX-License-Identifier: Apache-2.0
import PCSCDriver
import TagLink
import TagProtocols
import Testing

/// Checks what the driver makes of what readers say.
struct DiscoveryTests {
    private static func discover(
        _ service: ScriptedService,
        _ choice: ReaderChoice = .first,
        systemCodes: [UInt16] = [0x12FC]
    ) async throws(LinkError) -> [DiscoveredTag] {
        try await PCSCReader(choice, layer: service)
            .discover(Set(Technology.allCases), systemCodes: systemCodes)
    }

    @Test("A card with ISO-DEP has its UID and ATS, and takes APDUs")
    func typeA() async throws {
        let service = SampleCards.service(
            [UInt8](hex: "3B8180018080"),
            table: [
                "ffca000000": "04112233445566 9000", "ffca010000": "0675778102 80 9000",
                "00a4040007d276000085010100": "9000",
            ]
        )
        let tag = try #require(try await Self.discover(service).first)
        #expect(tag.identity == .nfcA(atqa: 0x0344, sak: 0x20, uid: [UInt8](hex: "04112233445566")))
        guard case .commands(let link, let answer) = tag.port else { throw LinkError(.unsupported, "no APDUs") }
        #expect(answer == [UInt8](hex: "067577810280"))
        #expect(try await link.transmit([UInt8](hex: "00a4040007d276000085010100")) == [0x90, 0x00])
        #expect(await link.isPresent())
        service.change { $0.readers[0].card = nil }
        #expect(await !link.isPresent())
    }

    @Test("An ATS that is not told is made of the ATR's historical bytes; historical bytes alone get a head")
    func madeUpAnswer() async throws {
        for (told, wanted) in [("6a81", "0408C105"), ("2F2F 9000", "04082F2F")] {
            let service = SampleCards.service(
                [UInt8](hex: "3B828001C10547"),
                table: ["ffca000000": "04112233445566 9000", "ffca010000": told]
            )
            let tag = try #require(try await Self.discover(service).first)
            guard case .commands(_, let answer?) = tag.port else { throw LinkError(.unsupported, "no ATS") }
            #expect(answer == [UInt8](hex: wanted))
            #expect(try AnswerToSelect(answer).octets == answer)
        }
    }

    @Test("A Type B card has its ATQB")
    func typeB() async throws {
        let service = SampleCards.service(
            [UInt8](hex: "3B888001 1C2D94110081810040 00".replacing(" ", with: "")).prefix(12) + [],
            table: ["ffca000000": "01020304 9000"]
        )
        let tag = try #require(try await Self.discover(service).first)
        guard case .nfcB(let answer) = tag.identity else { throw LinkError(.unsupported, "\(tag.identity)") }
        #expect(answer == [UInt8](hex: "50010203041C2D9411008181"))
        #expect(try TagTarget(tag.identity).isISODEP)
    }

    @Test("A UID of ISO/IEC 15693 is turned round where the reader has it as on the air", arguments: [false, true])
    func vicinity(isReversed: Bool) async throws {
        let uid = [UInt8](hex: "E004015000112233")
        let service = SampleCards.service(
            SampleCards.vicinityAnswer,
            table: ["ffca000000": (isReversed ? uid.reversed() : uid).hex + "9000", "ffb0000004": "e1400d01 9000"]
        )
        let tag = try #require(try await Self.discover(service).first)
        #expect(tag.identity == .nfcV(uid: uid, dsfid: 0))
    }

    @Test("A FeliCa card of a reader with storage commands alone has the longest times")
    func felicaStorage() async throws {
        let service = SampleCards.service(
            SampleCards.felicaAnswer,
            table: [
                "ffca000000": "02fe001122334455 9000", "ffa40001020b00": "9000",
                "ffb0000010": "10040100040000000001000000000000 9000",
            ]
        )
        let tag = try #require(try await Self.discover(service).first)
        let idm = [UInt8](hex: "02fe001122334455")
        #expect(tag.identity == .nfcF(idm: idm, pmm: [UInt8](repeating: 0xFF, count: 8), systemCode: nil))
        guard case .frames(let link) = tag.port else { throw LinkError(.unsupported, "no frames") }
        let read = Frame([0x10, 0x06] + idm + [0x01, 0x0B, 0x00, 0x01, 0x80, 0x00])
        let answer = try await link.transceive(read, timeout: .milliseconds(20))
        #expect(
            answer.bytes.hex == "1d0702fe0011223344550000011004010004000000000100000000000 0".replacing(" ", with: "")
        )
    }

    @Test("A contact card is refused in so many words, unless its reader was named")
    func contactCard() async throws {
        let answer = [UInt8](hex: "3BDA18FF81B1FE751F030031F573C001600090001C")
        let service = SampleCards.service(answer, table: [:])
        do throws(LinkError) {
            _ = try await Self.discover(service)
            Issue.record("It was taken.")
        } catch {
            #expect(error.code == .readerUnavailable)
            #expect(error.reason.contains("has contacts"))
        }
        let tag = try #require(try await Self.discover(service, .named("ACR122")).first)
        // 08: an identifier that is not the card's own.
        guard case .nfcA(_, let sak, let uid) = tag.identity else { throw LinkError(.unsupported, "not NFC-A") }
        #expect(sak == 0x20 && uid.count == 4 && uid[0] == 0x08)
    }

    @Test(
        "What phones do not read is left out",
        arguments: ["3B8F8001804F0CA0000003060600070000000000", "3B8F8001804F0CA0000003064000000000000000"]
    )
    func other(answer: String) async throws {
        let service = SampleCards.service([UInt8](hex: answer), table: ["ffca000000": "01020304 9000"])
        #expect(try await Self.discover(service).isEmpty)
    }

    @Test("An ATR that is none is tried again later", arguments: ["", "00", "3B", "3BFF"])
    func garbage(answer: String) async {
        let service = SampleCards.service([UInt8](hex: answer), table: [:])
        await #expect(throws: LinkError(.transmission, "")) { try await Self.discover(service) }
    }

    @Test("A tag that leaves while it is looked at is looked for again")
    func leaves() async throws {
        let service = SampleCards.service(SampleCards.type2Answer) { _ throws(SmartCardError) in
            throw SmartCardError(.removedCard, "SCardTransmit")
        }
        await #expect(throws: LinkError(.transmission, "")) { try await Self.discover(service) }
        service.change { $0.readers[0].card = nil }
        #expect(try await Self.discover(service).isEmpty)
    }
}
