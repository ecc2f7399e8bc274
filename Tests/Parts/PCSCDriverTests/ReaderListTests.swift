// SPDX-License-Identifier: Apache-2.0
import PCSCDriver
import TagLink
import Testing

/// Checks which of the service's readers are found, and what is reported of all of them.
@Suite("The readers of the service")
struct ReaderListTests {
    private static let names = ["Slot 00 00", "An NFC reader 01 00", "Another NFC reader 02 00"]

    private static func service() -> ScriptedService {
        ScriptedService(names.map { ScriptedService.Reader(name: $0) })
    }

    @Test("are not asked for where no service seems to run, unless one of them is named")
    func unlikely() async throws {
        let service = Self.service()
        service.change { $0.isLikely = false }
        #expect(try PCSCReader.findContactless(service) == nil)
        #expect(await PCSCReader.reports(service, askingReaders: false).isEmpty)
        #expect(service.look(\.looks) == 0)
        #expect(try PCSCReader.find(.named("an nfc"), service).name == Self.names[1])
    }

    @Test("are found by what is wanted, and have their whole names at once")
    func found() throws {
        let service = Self.service()
        #expect(try PCSCReader.findContactless(service)?.name == Self.names[1])
        #expect(try PCSCReader.find(.first, service).name == Self.names[1])
        #expect(try PCSCReader.find(.named("another"), service).name == Self.names[2])
        #expect(service.look { $0.contexts.isEmpty && $0.open.isEmpty })
        service.change { $0.readers.removeLast(2) }
        #expect(try PCSCReader.findContactless(service) == nil)
        #expect(try PCSCReader.find(.first, service).name == Self.names[0])
    }

    @Test("are called as they were chosen until one of them was found")
    func called() async throws {
        let service = Self.service()
        #expect(PCSCReader(.first, layer: service).name == "PC/SC")
        let reader = PCSCReader(.named("another"), layer: service)
        #expect(reader.name == "another")
        #expect(try await reader.discover(Set(Technology.allCases), systemCodes: []).isEmpty)
        #expect(reader.name == Self.names[2])
    }

    @Test("are named where none of them is the wanted one")
    func missing() {
        let service = Self.service()
        service.change { state in
            state.readers.removeLast()
            state.readers[1].name = "Other slot 01 00"
        }
        let named = #expect(throws: LinkError.self) { _ = try PCSCReader.find(.named("PICC"), service) }
        #expect(named?.code == .readerUnavailable)
        #expect(
            named?.reason
                == #"There is no PC/SC reader named "PICC". There are: "Slot 00 00", "Other slot 01 00"."#
        )
        let contactless = #expect(throws: LinkError.self) { _ = try PCSCReader.find(.firstContactless, service) }
        #expect(contactless?.reason.hasPrefix("None of the PC/SC readers seems to be contactless. There are: ") == true)
        service.change { $0.readers = [] }
        let none = #expect(throws: LinkError.self) { _ = try PCSCReader.find(.named("PICC"), service) }
        #expect(none?.reason.contains("Plug one in") == true)
    }

    @Test("are waited for as long as is wanted; that the service is silent is an error, and that it is gone is none")
    func silent() async throws {
        let service = Self.service()
        service.change { $0.hanging = [.establish] }
        let limit = Duration.milliseconds(20)
        let silent = #expect(throws: LinkError.self) { _ = try PCSCReader.findContactless(service, within: limit) }
        #expect(silent?.code == .readerUnavailable)
        #expect(silent?.reason.contains("systemctl restart pcscd") == true)
        let named = #expect(throws: LinkError.self) { _ = try PCSCReader.find(.first, service, within: limit) }
        #expect(named?.code == .readerUnavailable && named?.reason == silent?.reason)
        service.change { state in
            state.hanging = []
            state.isRunning = false
            state.isLikely = true
        }
        #expect(try PCSCReader.findContactless(service) == nil)
        #expect(await PCSCReader.reports(service, askingReaders: true).isEmpty)
        // Who wants one of them hears why there is none.
        let stopped = #expect(throws: LinkError.self) { _ = try PCSCReader.find(.first, service) }
        #expect(stopped?.code == .readerUnavailable)
        #expect(stopped?.reason.contains("systemctl start pcscd.socket") == true)
    }

    @Test("are reported in its order, and opened only where they are to be asked")
    func reports() async {
        let card = ScriptedService.Card(answerToReset: SampleCards.cardAnswer) { _ in [0x6A, 0x81] }
        let service = ScriptedService(Self.names.map { ScriptedService.Reader(name: $0, card: card) })
        let plain = await PCSCReader.reports(service, askingReaders: false)
        #expect(plain.map(\.name) == Self.names && plain.allSatisfy { $0.presence == .tag })
        #expect(service.commands.isEmpty && service.look { $0.dispositions.isEmpty })
        let asked = await PCSCReader.reports(service, askingReaders: true)
        #expect(asked.map(\.name) == Self.names && asked.allSatisfy { $0.presence == .tag })
        #expect(!service.commands.isEmpty)
        // Each card is switched off, and each reader left when its driver was asked.
        #expect(service.look(\.dispositions) == [.unpower, .leave, .unpower, .leave, .unpower, .leave])
        #expect(service.look { $0.contexts.isEmpty && $0.open.isEmpty })
    }
}
