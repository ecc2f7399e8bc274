// SPDX-License-Identifier: Apache-2.0
import PCSCDriver
import TagLink
import Testing

/// Checks which reader is used when readers come and go, and when the service has started again.
struct ReaderChangeTests {
    private static let all = Set(Technology.allCases)
    private static let card = ScriptedService.Card(answerToReset: SampleCards.cardAnswer) { command in
        [UInt8](hex: command.hex == "ffca000000" ? "04112233445566 9000" : "6a81")
    }

    @Test("A reader that is plugged in under the name of another one is asked for its chip")
    func sameName() async throws {
        let identifier = SampleCards.uid.hex + "9000"
        let service = SampleCards.service(
            SampleCards.type2Answer,
            table: [
                "ffca000000": identifier, "ff00000002d402": "d50332010607 9000", "ff00000005d408630300": "d509 9000",
                "ff00000005d408630380": "d509 9000",
            ]
        )
        let reader = PCSCReader(.first, layer: service)
        #expect(try await reader.discover(Self.all, systemCodes: []).count == 1)
        #expect(reader.technologies == [.nfcA, .nfcB, .nfcF])
        service.change { $0.readers = [] }
        #expect(try await reader.discover(Self.all, systemCodes: []).isEmpty)
        let other = SampleCards.service(SampleCards.type2Answer, table: ["ffca000000": identifier])
        let plain = other.look { $0.readers[0] }
        service.change { $0.readers = [plain] }
        let tag = try #require(try await reader.discover(Self.all, systemCodes: []).first)
        guard case .frames(let link) = tag.port else { throw LinkError(.unsupported, "no frames") }
        // It has nothing but its commands for storage cards.
        #expect(!link.countsAir && reader.technologies == Self.all)
    }

    @Test("The reader that was used before stays the one that is used")
    func stays() async throws {
        let service = ScriptedService([ScriptedService.Reader(name: "Some reader 00 00", card: Self.card)])
        let reader = PCSCReader(.first, layer: service)
        #expect(try await reader.discover(Self.all, systemCodes: []).count == 1)
        service.change { $0.readers.insert(ScriptedService.Reader(name: "An NFC reader 00 00"), at: 0) }
        #expect(try await reader.discover(Self.all, systemCodes: []).count == 1)
        #expect(reader.name == "Some reader 00 00")
        // Another one is taken when it is gone.
        service.change { state in
            state.readers.removeLast()
            state.readers[0].card = Self.card
        }
        #expect(try await reader.discover(Self.all, systemCodes: []).count == 1)
        #expect(reader.name == "An NFC reader 00 00")
    }

    @Test("A reader that is there by name alone is not used while there is another one")
    func unavailable() async throws {
        let service = ScriptedService([
            ScriptedService.Reader(name: "ACS ACR122U 00 00", isGone: true),
            ScriptedService.Reader(name: "An NFC reader 01 00", card: Self.card),
        ])
        let reader = PCSCReader(.first, layer: service)
        #expect(try await reader.discover(Self.all, systemCodes: []).count == 1)
        #expect(reader.name == "An NFC reader 01 00")
    }

    @Test("A connection of before a restart of the service is opened again at once")
    func restart() async throws {
        let service = ScriptedService([ScriptedService.Reader(name: "An NFC reader 00 00", card: Self.card)])
        let reader = PCSCReader(.first, layer: service)
        #expect(try await reader.discover(Self.all, systemCodes: []).count == 1)
        let arrival = reader.arrival(of: [])
        service.change { $0.abandoned = $0.contexts }
        #expect(try await reader.discover(Self.all, systemCodes: []).count == 1)
        #expect(reader.arrival(of: []) != arrival)
    }

    @Test("Readers of which one goes while they are looked at are looked at once more")
    func goes() async throws {
        let service = ScriptedService([ScriptedService.Reader(name: "An NFC reader 00 00", card: Self.card)])
        let reader = PCSCReader(.first, layer: service)
        for (failures, code) in [
            ([.unknownReader], nil), ([.unknownReader, .unknownReader], .readerUnavailable),
            ([.unsupportedFeature], .unsupported), ([.noService], nil), ([.noService, .noService], nil),
        ] as [([SmartCardError.Code], LinkError.Code?)] {
            service.change { $0.lookFailures = failures }
            do throws(LinkError) {
                let count = try await reader.discover(Self.all, systemCodes: []).count
                // A service that is lost twice may come back: nothing is found meanwhile.
                #expect(code == nil && count == (failures == [.noService, .noService] ? 0 : 1))
            } catch {
                #expect(error.code == code)
            }
            #expect(service.look(\.lookFailures).isEmpty)
        }
    }
    @Test("A card is switched off when a reader that was interrupted is let go of, and found again after that")
    func interrupted() async throws {
        let service = ScriptedService([ScriptedService.Reader(name: "An NFC reader 00 00", card: Self.card)])
        let reader = PCSCReader(.first, layer: service)
        #expect(try await reader.discover(Self.all, systemCodes: []).count == 1)
        reader.interrupt()
        await reader.release()
        #expect(service.look(\.dispositions) == [.unpower])
        #expect(service.look { $0.contexts.isEmpty })
        #expect(try await reader.discover(Self.all, systemCodes: []).count == 1)
    }
}
