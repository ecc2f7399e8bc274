// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCReaders
import NFCRuntime
import PCSCDriver
import PCSCTesting
import ReaderEmulation
import TagLink
import TestThreads
import Testing
import VirtualTags

/// Checks how the readers of PC/SC are chosen, listed and described. Each test asks a process of its own, with a pcscd that
/// has two contactless readers and a slot for other cards between them.
@Suite(.timeLimit(.minutes(2)), .enabled(if: PrivateReaders.canStart, "There is no pcscd that can load the driver."))
struct `Readers of PC/SC` {
    @Test(.ownThreads) func `are chosen by name, by the rest of a name, or as the first contactless one`() async throws
    {
        // For the sockets, whose paths are short.
        let folder = "/tmp/ocn-choice-\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        await #expect(processExitsWith: .success) { [path = folder as String] in
            let machine = try Machine.start(path)
            defer { machine.stop() }
            func found(_ reader: String?) -> String {
                let environment = NFCEnvironment(ReaderConfiguration(reader: reader))
                guard case .discovering(let driver) = environment.reader else { return Machine.reason(environment) }
                return driver.name
            }
            let names = machine.readers.map(\.profile.name)
            #expect(found(nil).hasPrefix(names[0]) && found("pcsc").hasPrefix(names[0]))
            #expect(found("pcsc:ACR122U").hasPrefix(names[2]) && found("pcsc:test icc").hasPrefix(names[1]))
            #expect(found("pcsc:other").hasPrefix(#"There is no PC/SC reader named "other". There are: "\#(names[0])"#))
            #expect(found("pcsc:").hasPrefix(names[0]))
            // The service's reader may be connected later, so its name is only looked for at each look.
            for (reader, name) in [(nil, "PC/SC"), ("pcsc", "PC/SC"), ("pcsc:later", "later")] as [(String?, String)] {
                let environment = NFCEnvironment.background(ReaderConfiguration(reader: reader)) { _ in }
                #expect(environment.driver?.name == name)
                if name == "PC/SC" { await #expect(throws: Never.self) { try await environment.driver?.prepare() } }
            }
            // Where images are named, they are for the virtual reader.
            #expect(NFCEnvironment(ReaderConfiguration(tags: "")).driver?.name == "virtual")
        }
    }

    @Test(.ownThreads) func `are listed where they are contactless, and reported when they change`() async throws {
        // For the sockets, whose paths are short.
        let folder = "/tmp/ocn-list-\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        await #expect(processExitsWith: .success) { [path = folder as String] in
            let machine = try Machine.start(path)
            defer { machine.stop() }
            let profiles = machine.readers.map(\.profile.name)
            let listed = await MachineReaders.list()
            #expect(listed.count == 2)
            for (reader, name) in zip(listed, [profiles[0], profiles[2]]) {
                #expect(reader.name.hasPrefix(name) && reader.reader == "pcsc:\(reader.name)")
                #expect(NFCEnvironment(ReaderConfiguration(reader: reader.reader)).driver?.name == reader.name)
            }
            let changes = Locked(0)
            var observations = MachineReaders.observe { changes.withLock { $0 += 1 } }
            #expect(observations.count == 1)
            // The watch may begin after a tag has come, so several come and go.
            var looks = 0
            let isTold = await Machine.waits {
                if looks % 20 == 0 { machine.readers[0].field.bring(Machine.tag(UInt8(looks / 20 % 256))) }
                if looks % 20 == 10 { machine.readers[0].field.removeAll() }
                looks += 1
                return changes.withLock { $0 > 0 }
            }
            #expect(isTold)
            observations = []
        }
    }

    @Test(.ownThreads) func `are described with all that they report`() async throws {
        // For the sockets, whose paths are short.
        let folder = "/tmp/ocn-report-\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        await #expect(processExitsWith: .success) { [path = folder as String] in
            let machine = try Machine.start(path)
            defer { machine.stop() }
            machine.readers[2].field.bring(Machine.tag(6))
            let driver = try #require(NFCEnvironment(ReaderConfiguration(reader: "pcsc:ACR122U")).driver)
            #expect(
                await Machine.waits {
                    let inventory = await ReaderInventory(using: driver, isAlone: true, askingReaders: false)
                    return inventory.used.presence == .tag
                }
            )
            let plain = await ReaderInventory(using: driver, isAlone: true, askingReaders: false)
            #expect(plain.used.name == driver.name && plain.used.kind == "pcsc" && plain.used.title == "PC/SC")
            #expect(plain.used.firmware == nil && plain.others.isEmpty)
            let inventory = await ReaderInventory(using: driver, isAlone: false, askingReaders: true)
            let used = inventory.used
            #expect(used.presence == .tag && used.answerToReset?.first == 0x3B && used.isInUse == false)
            #expect(used.isContactless == true && used.technologies == [.nfcA, .nfcB, .nfcF] && used.problem == nil)
            #expect(used.usbIdentifier == "072f:2200" && used.firmware == "ACR122U215")
            #expect(used.chip?.hasPrefix("PN532") == true && used.hasEscapeCommands == true)
            #expect(used.transparentTechnologies == [] && used.calls?.isEmpty == false && used.capabilities.isEmpty)
            let others = inventory.others
            #expect(others.map(\.kind) == ["pcsc", "pcsc", "virtual"])
            #expect(others.first?.name.hasPrefix(machine.readers[0].profile.name) == true)
            #expect(others.first?.presence == .empty && others.first?.technologies.contains(.nfcV) == true)
            #expect(others.first?.usbIdentifier == "072f:2303" && others.first?.chip == nil)
            #expect(others.dropFirst().first?.isContactless == false)
        }
    }

    @Test(.ownThreads) func `can't be used while another program has the card open`() async throws {
        // For the sockets, whose paths are short.
        let folder = "/tmp/ocn-use-\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        await #expect(processExitsWith: .success) { [path = folder as String] in
            let machine = try Machine.start(path)
            defer { machine.stop() }
            machine.readers[0].field.bring(Machine.tag(6))
            let (reader, other) = (try PCSCReader.find(.first), try PCSCReader.find(.first))
            #expect(await Machine.waits { (try? await other.discover([.nfcA], systemCodes: []))?.isEmpty == false })
            let kind = try #require(ReaderKind.named(ReaderName("pcsc")))
            let obstacle = try await kind.obstacle(reader)
            #expect(obstacle?.code == .inUse && obstacle?.reason.isEmpty == false)
            await other.release()
            #expect(try await kind.obstacle(reader) == nil)
            #expect(try await kind.obstacle(VirtualField()) == nil)
            #expect(ReaderKind.of(reader)?.scheme == "pcsc")
        }
    }
}

/// What the exit tests share.
enum Machine {
    static func start(_ path: String) throws -> PrivateReaders {
        var slot = ReaderProfile.acr122u
        slot.name = "Test ICC Slot"
        return try PrivateReaders([.acr1552u, slot, .acr122u], folder: path)
    }

    static func tag(_ number: UInt8) -> VirtualType2Tag {
        VirtualType2Tag(.ntag213, uid: [4, 1, 2, 3, 4, 5, number])
    }

    static func reason(_ environment: NFCEnvironment) -> String {
        guard case .none(let reason) = environment.reader else { return "" }
        return reason
    }

    /// Waits for what another thread does.
    static func waits(for condition: () async -> Bool) async -> Bool {
        for _ in 0..<2000 {
            if await condition() { return true }
            usleep(5000)
        }
        return false
    }
}
