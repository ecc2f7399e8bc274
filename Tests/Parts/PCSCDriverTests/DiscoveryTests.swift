// SPDX-License-Identifier: Apache-2.0
import PCSCDriver
import TagLink
import TagProtocols
import Testing

/// Checks how the driver interprets readers' answers.
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

    @Test("A tag has left when the service, or the reader's driver, says so; nothing is sent to it")
    func presence() async throws {
        let service = SampleCards.service(
            [UInt8](hex: "3B8180018080"),
            table: ["ffca000000": "04112233445566 9000", "ffca010000": "0675778102 80 9000"]
        )
        // Whether the driver has the attribute SCARD_ATTR_ICC_PRESENCE, and says there is a card.
        let presence: UInt32 = 0x0009_0300
        let reader = PCSCReader(.first, layer: service)
        for (value, isNear) in [(nil, true), ([2], true), ([4], true), ([0], false)] as [([UInt8]?, Bool)] {
            service.change { $0.attributes[presence] = value }
            let tag = try #require(try await reader.discover([.nfcA], systemCodes: []).first)
            guard case .commands(let link, _) = tag.port else { throw LinkError(.unsupported, "no APDUs") }
            let uid = [UInt8](hex: "04112233445566")
            let arrival = try #require(reader.arrival(of: uid))
            let commands = service.commands
            #expect(await reader.isStillNear(uid, since: arrival) == isNear)
            #expect(await link.isPresent() == isNear)
            #expect(await !reader.isStillNear(uid, since: arrival + 2))
            #expect(service.commands == commands)
        }
        // It left, and is back.
        service.change { $0.attributes[presence] = [2] }
        let tag = try #require(try await reader.discover([.nfcA], systemCodes: []).first)
        guard case .commands(let link, _) = tag.port else { throw LinkError(.unsupported, "no APDUs") }
        let arrival = try #require(reader.arrival(of: []))
        service.change { $0.readers[0].events += 2 }
        #expect(await !reader.isStillNear([], since: arrival))
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
            #expect(try AnswerToSelect(answer).bytes == answer)
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
        guard case .frames(let link) = tag.port else { throw LinkError(.unsupported, "no frames") }
        let read = Frame([0x22, 0x20] + uid.reversed() + [0x00])
        #expect(try await link.transceive(read, timeout: .milliseconds(20)).bytes.hex == "00e1400d01")
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
        guard case .nfcA(_, let sak, let uid) = tag.identity else { throw LinkError(.unsupported, "not NFC-A") }
        #expect(sak == 0x20 && uid.isEmpty)
    }

    @Test(
        "Where the reader refuses to report a UID, or reports what can't be one, there is none",
        arguments: ["6a81", "6300", "01020304 6300"]
            + (0...16).filter { ![4, 7, 10].contains($0) }.map { String(repeating: "01", count: $0) + " 9000" }
    )
    func unknownIdentifier(answer: String) async throws {
        for atr in [[UInt8](hex: "3B8180018080"), SampleCards.type2Answer] {
            let service = SampleCards.service(atr, table: ["ffca000000": answer])
            let tag = try #require(try await Self.discover(service).first)
            let target = try TagTarget(tag.identity)
            #expect(target.identifier.isEmpty && target.technology == .nfcA)
        }
    }

    @Test("An ISO/IEC 15693 tag whose UID the reader does not report is asked for it")
    func inventory() async throws {
        let service = SampleCards.service(
            SampleCards.vicinityAnswer,
            table: [
                // Traverse, of which a read of block 0 shows that the reader has it.
                "fffd04010302200000": "00 E1400D01 9000", "fffd05010326010000": "0055 3322110015 0004E0 9000",
            ]
        )
        let tag = try await Self.discover(service).first
        #expect(tag?.identity == .nfcV(uid: [UInt8](hex: "E004001500112233"), dsfid: 0x55))
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

    @Test("A card is in use where another program has opened it, and not where no reader is")
    func inUse() async throws {
        let service = ScriptedService([ScriptedService.Reader(name: "ACS ACR122U 00 00")])
        let reader = PCSCReader(.firstContactless, layer: service)
        #expect(try await !reader.isCardInUse())
        service.change {
            $0.readers[0].card = ScriptedService.Card(answerToReset: [0x3B, 0x80, 0x80, 0x01]) { _ in [] }
        }
        #expect(try await !reader.isCardInUse())
        service.change { $0.readers[0].isInUse = true }
        #expect(try await reader.isCardInUse())
        service.change { $0.readers = [] }
        #expect(try await !reader.isCardInUse())
    }
}
