// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinuxSupport
import NFCReaders
import NFCSessions
import PCSCDriver
import PCSCTesting
import ReaderEmulation
import TagLink
import TestThreads
import Testing
import VirtualTags

/// How the readers of PC/SC are chosen, listed and described. Each test asks a process of its own, with a pcscd that has
/// two contactless readers and a slot for other cards between them.
@Suite(.timeLimit(.minutes(2))) struct MachineReadersTests {
    /// A pcscd that can load the driver.
    private static let hasService = PrivateReaders.canStart
    private static let missing: Comment = "There is no pcscd that can load the driver."

    private struct Machine: Sendable {
        let readers: PrivateReaders

        init(_ path: String) throws {
            var slot = ReaderProfile.acr122u
            slot.name = "Test ICC Slot"
            readers = try PrivateReaders([.acr1552u, slot, .acr122u], folder: path)
        }

        var names: [String] { readers.readers.map(\.profile.name) }

        /// Lays a tag on a reader.
        func bring(_ number: UInt8, on index: Int) {
            readers.readers[index].field.bring(VirtualType2Tag(.ntag213, uid: uid(number)))
        }
    }

    /// Waits for what another thread does.
    @Sendable private static func waits(for condition: () async -> Bool) async -> Bool {
        for _ in 0..<2000 {
            if await condition() { return true }
            usleep(5000)
        }
        return false
    }

    @Test(.ownThreads, .enabled(if: hasService, missing))
    func `PC/SC reader: chosen by name, by a part of it, or as the first contactless one`() async throws {
        let folder = try Folder()
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            let machine = try Machine(path)
            defer { machine.readers.stop() }
            let names = machine.names
            func found(_ reader: String?) -> String {
                let environment = NFCEnvironment(ReaderConfiguration(reader: reader))
                return environment.driver?.name ?? reason(environment)
            }
            let rows: [(String?, String)] = [
                (nil, names[0]), ("pcsc", names[0]), ("pcsc:", names[0]), ("pcsc:ACR122U", names[2]),
                ("pcsc:test icc", names[1]),
                ("pcsc:other", #"No PC/SC reader is named "other". Available readers: "\#(names[0])"#),
            ]
            for (reader, name) in rows { #expect(found(reader).hasPrefix(name), "\(reader ?? "none")") }
            // The service's reader may be connected later, so its name is only looked for at each look.
            let service = NFCEnvironment.background(ReaderConfiguration()) { _ in }
            await #expect(throws: Never.self) { try await service.driver?.prepare() }
            // Where images are named, they are for the virtual reader.
            #expect(NFCEnvironment(ReaderConfiguration(tags: "")).driver?.name == "virtual")
        }
    }

    @Test(.ownThreads, .enabled(if: hasService, missing))
    func `readers of pcscd: contactless ones are listed, and changes are reported`() async throws {
        let folder = try Folder()
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            let machine = try Machine(path)
            defer { machine.readers.stop() }
            let listed = await MachineReaders.list()
            #expect(listed.count == 2)
            for (reader, name) in zip(listed, [machine.names[0], machine.names[2]]) {
                #expect(reader.name.hasPrefix(name) && reader.reader == "pcsc:\(reader.name)")
                let configuration = ReaderConfiguration(reader: reader.reader)
                #expect(configuration.backgroundProblem == nil)
                #expect(NFCEnvironment(configuration).driver?.name == reader.name)
            }
            let changes = Locked(0)
            var observations = MachineReaders.observe { changes.withLock { $0 += 1 } }
            #expect(observations.count == 1)
            // The watch may begin after a tag has come, so several come and go.
            var looks = 0
            let isNotified = await Self.waits {
                if looks % 20 == 0 { machine.bring(UInt8(looks / 20 % 256), on: 0) }
                if looks % 20 == 10 { machine.readers.readers[0].field.removeAll() }
                looks += 1
                return changes.withLock { $0 > 0 }
            }
            #expect(isNotified)
            observations = []
        }
    }

    @Test(.ownThreads, .enabled(if: hasService, missing))
    func `PC/SC inventory: has presence, ATR, USB id, firmware, chip and technologies of the used and other readers`()
        async throws
    {
        let folder = try Folder()
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            let machine = try Machine(path)
            defer { machine.readers.stop() }
            machine.bring(6, on: 2)
            let driver = try #require(NFCEnvironment(ReaderConfiguration(reader: "pcsc:ACR122U")).driver)
            @Sendable func inventory(isAlone: Bool) async -> ReaderInventory {
                await ReaderInventory(using: driver, isAlone: isAlone, askingReaders: !isAlone)
            }
            #expect(await Self.waits { await inventory(isAlone: true).used.presence == .tag })
            let plain = await inventory(isAlone: true)
            #expect(plain.used.name == driver.name && plain.used.kind == "pcsc" && plain.used.title == "PC/SC")
            #expect(plain.used.firmware == nil && plain.others.isEmpty)
            let whole = await inventory(isAlone: false)
            let used = whole.used
            #expect(used.presence == .tag && used.answerToReset?.first == 0x3B && used.isInUse == false)
            #expect(used.isContactless == true && used.technologies == [.nfcA, .nfcB, .nfcF] && used.problem == nil)
            #expect(used.usbIdentifier == "072f:2200" && used.firmware == "ACR122U215")
            #expect(used.chip?.hasPrefix("PN532") == true && used.hasEscapeCommands == true)
            #expect(used.transparentTechnologies == [] && used.calls?.isEmpty == false && used.capabilities.isEmpty)
            let others = whole.others
            #expect(others.map(\.kind) == ["pcsc", "pcsc", "virtual"])
            #expect(others.first?.name.hasPrefix(machine.names[0]) == true && others.first?.presence == .empty)
            #expect(others.first?.usbIdentifier == "072f:2303" && others.first?.chip == nil)
            #expect(
                others.first?.technologies.contains(.nfcV) == true && others.dropFirst().first?.isContactless == false
            )
        }
    }

    @Test(.ownThreads, .enabled(if: hasService, missing))
    func `PC/SC reader whose card another program has open: its obstacle is inUse, and nil once released`() async throws
    {
        let folder = try Folder()
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            let machine = try Machine(path)
            defer { machine.readers.stop() }
            machine.bring(6, on: 0)
            let (reader, other) = (try PCSCReader.find(.first), try PCSCReader.find(.first))
            #expect(await Self.waits { (try? await other.discover([.nfcA], systemCodes: []))?.isEmpty == false })
            let kind = try #require(ReaderKind.of(reader))
            let obstacle = try await kind.obstacle(reader)
            #expect(kind.scheme == "pcsc" && obstacle?.code == .inUse && obstacle?.reason.isEmpty == false)
            await other.release()
            #expect(try await kind.obstacle(reader) == nil)
            #expect(try await kind.obstacle(VirtualField()) == nil)
        }
    }

    @Test(.ownThreads)
    func `pcscd missing or silent: the reason for no reader says so, and no other reader is taken instead`()
        async throws
    {
        let folder = try Folder()
        // Nobody accepts a connection.
        let listener = try PrivateSocket.listen("pcscd.comm", in: PrivateFolder(folder.path))
        defer { close(listener) }
        for (path, isSilent) in [("/tmp/ocn-nowhere", false), (folder.path, true)] {
            await #expect(processExitsWith: .success) { [path = path as String, isSilent = isSilent as Bool] in
                _ = unsafe setenv("PCSCLITE_CSOCK_NAME", path + "/pcscd.comm", 1)
                let start = ContinuousClock.now
                let patience: Duration = isSilent ? .milliseconds(100) : .seconds(5)
                let reasons = MachineReaders.absences(within: patience)
                #expect(reasons.count == 1 && !reasons[0].isEmpty)
                #expect(reasons[0].contains("systemctl restart pcscd") == isSilent, "\(reasons)")
                // No other reader is taken in place of one that does not answer.
                for reader in isSilent ? [nil, "pcsc", "pcsc:ACS"] : ["pcsc"] {
                    var configuration = ReaderConfiguration(reader: reader)
                    configuration.patience = patience
                    #expect(reason(NFCEnvironment(configuration)) == reasons[0])
                }
                // One look without a limit takes five seconds.
                #expect(!isSilent || ContinuousClock.now - start < .seconds(5))
                // Watching for readers can begin and end all the same.
                #expect(!MachineReaders.observe {}.isEmpty)
            }
        }
    }
}
