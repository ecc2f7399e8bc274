// SPDX-License-Identifier: Apache-2.0
import PCSCDriver
import TagLink
import Testing

/// Checks what the driver keeps from one tag to the next, and what it does not.
struct LeftOverTests {
    private static let all = Set(Technology.allCases)
    private static let identifier = SampleCards.uid.hex + "9000"
    private static let chip = "ff00000002d402"
    private static let begun = "ff00000005d408630300"
    private static let ended = "ff00000005d408630380"

    @Test("A way to a tag is ended once, with its tag, and not with the card that comes after it")
    func route() async throws {
        let service = SampleCards.service(
            SampleCards.type2Answer,
            table: [
                "ffca000000": Self.identifier, Self.chip: "d50332010607 9000", Self.begun: "d509 9000",
                Self.ended: "d509 9000",
            ]
        )
        let reader = PCSCReader(.first, layer: service)
        let tag = try #require(try await reader.discover(Self.all, systemCodes: []).first)
        guard case .frames = tag.port else { throw LinkError(.unsupported, "no frames") }
        #expect(service.commands.last == Self.begun && !service.commands.contains(Self.ended))
        service.change { state in
            state.readers[0].card?.answerToReset = SampleCards.cardAnswer
            state.readers[0].events += 2
        }
        let card = try #require(try await reader.discover(Self.all, systemCodes: []).first)
        guard case .commands = card.port else { throw LinkError(.unsupported, "no APDUs") }
        #expect(service.commands.count { $0 == Self.ended } == 1)
        await reader.release()
        #expect(service.commands.count { $0 == Self.ended } == 1)
    }

    @Test("What a reader can't do is asked once, also after it was let go of, and anew for another technology")
    func findings() async throws {
        let service = SampleCards.service(SampleCards.type2Answer, table: ["ffca000000": Self.identifier])
        let reader = PCSCReader(.first, layer: service)
        func asked() async throws -> [String] {
            let before = service.commands.count
            #expect(try await reader.discover(Self.all, systemCodes: []).count == 1)
            return Array(service.commands[before...])
        }
        let first = try await asked()
        #expect(first.contains(Self.chip) && first.contains { $0.hasPrefix("ffc2") })
        #expect(try await asked() == ["ffca000000"])
        await reader.release()
        #expect(try await asked() == ["ffca000000"])
        // Another reader that goes does not change what is known of this one.
        service.change { $0.readers.append(ScriptedService.Reader(name: "Another reader 01 00")) }
        #expect(try await asked() == ["ffca000000"])
        service.change { $0.readers.removeLast() }
        #expect(try await asked() == ["ffca000000"])
        service.change { $0.readers[0].card?.answerToReset = SampleCards.felicaAnswer }
        let before = service.commands.count
        _ = try await reader.discover(Self.all, systemCodes: [])
        let felica = service.commands[before...]
        #expect(!felica.contains(Self.chip) && felica.contains { $0.hasPrefix("ffc2") })
        service.change { $0.readers[0].card?.answerToReset = SampleCards.type2Answer }
        #expect(try await asked() == ["ffca000000"])
    }

    @Test("Each tag that was found has its own ten looks for one that comes unnoticed after it")
    func hiddenAgain() async throws {
        let service = SampleCards.service(SampleCards.cardAnswer, table: ["ffca000000": Self.identifier])
        let reader = PCSCReader(.first, layer: service)
        let card = try #require(service.look { $0.readers[0].card })
        #expect(try await reader.discover(Self.all, systemCodes: []).count == 1)
        var arrivals = [reader.arrival(of: [])]
        for _ in 0..<3 {
            service.change { $0.readers[0].card = nil }
            for _ in 0..<9 {
                await #expect(throws: LinkError(.transmission, "")) {
                    _ = try await reader.discover(Self.all, systemCodes: [])
                }
                #expect(reader.arrival(of: []) == nil)
            }
            service.change { state in
                state.readers[0].card = card
                state.readers[0].isHidden = true
            }
            #expect(try await reader.discover(Self.all, systemCodes: []).count == 1)
            arrivals.append(reader.arrival(of: []))
        }
        #expect(arrivals.allSatisfy { $0 != nil } && Set(arrivals).count == 4)
    }

    @Test("A tag that comes while the reader is opened has the number of its own arrival")
    func arrivesLate() async throws {
        let service = SampleCards.service(SampleCards.cardAnswer, table: ["ffca000000": Self.identifier])
        service.change { $0.eventsAtConnect = 2 }
        let reader = PCSCReader(.first, layer: service)
        for _ in 0..<2 {
            #expect(try await reader.discover(Self.all, systemCodes: []).count == 1)
            #expect(reader.arrival(of: []) == 2)
        }
    }

    @Test("A tag has the number of its arrival while it is open, whatever was looked for, and none after that")
    func stays() async throws {
        let service = SampleCards.service(SampleCards.cardAnswer, table: ["ffca000000": Self.identifier])
        let reader = PCSCReader(.first, layer: service)
        #expect(try await reader.discover(Self.all, systemCodes: []).count == 1)
        let arrival = try #require(reader.arrival(of: SampleCards.uid))
        #expect(await reader.isStillNear(SampleCards.uid, since: arrival))
        // A look for another technology opens the card too.
        #expect(try await reader.discover([.nfcV], systemCodes: []).isEmpty)
        #expect(reader.arrival(of: SampleCards.uid) == arrival)
        await reader.release()
        #expect(reader.arrival(of: SampleCards.uid) == nil)
        #expect(await !reader.isStillNear(SampleCards.uid, since: arrival))
    }

    @Test("A link to the frames of an earlier tag counts nothing of the tag that was found after it")
    func counts() async throws {
        let answer = "d54300 00112233445566778899aabbccddeeff" + "0000"
        let service = SampleCards.service(
            SampleCards.type2Answer,
            table: [
                "ffca000000": Self.identifier, Self.chip: "d50332010607 9000", Self.begun: "d509 9000",
                Self.ended: "d509 9000", "ff00000004d4423000": answer + "9000",
            ]
        )
        let reader = PCSCReader(.first, layer: service)
        func link() async throws -> any SelfActivatingLink {
            let tag = try #require(try await reader.discover(Self.all, systemCodes: []).first)
            guard case .frames(let link) = tag.port else { throw LinkError(.unsupported, "no frames") }
            return link
        }
        let first = try await link()
        // The checksum is wrong, which counts as an exchange.
        await #expect(throws: LinkError(.transmission, "")) {
            _ = try await first.transceive(Frame([0x30, 0x00]), timeout: .milliseconds(5))
        }
        #expect(first.countsAir && first.statistics.exchanges == 1)
        let second = try await link()
        #expect(second.statistics == .zero && first.statistics.exchanges == 1)
        await #expect(throws: LinkError(.tagRemoved, "")) {
            _ = try await first.transceive(Frame([0x30, 0x00]), timeout: .milliseconds(5))
        }
        #expect(second.statistics == .zero && first.statistics.exchanges == 1)
    }
}
