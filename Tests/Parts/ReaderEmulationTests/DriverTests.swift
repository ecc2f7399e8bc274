// SPDX-License-Identifier: Apache-2.0
import CIFDHandler
import Foundation
import Glibc
import PrivateStorage
import ReaderEmulation
import TagLink
import TestThreads
import Testing
import VirtualTags

/// Calls the driver on a thread of the call's own: it blocks until the answer, and the tests and the global queues have few
/// threads. One of them could wait for what another one would do.
func callDriver<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: body()) }
    }
}

/// Calls the driver's functions as pcscd does, with our reader behind the socket.
@Suite(.serialized) struct `The driver that pcscd loads` {
    /// A reader at a socket, and the driver's channel to it.
    private final class Bench: Sendable {
        let field = VirtualField()
        private let folder: PrivateFolder
        let lun: UInt
        private let server: ReaderServer
        private let serving: Task<Void, Never>

        init(lun: UInt, profile: ReaderProfile = .acr122u, folder: PrivateFolder? = nil) throws {
            self.folder = try folder ?? .random("ocn-driver")
            self.lun = lun
            let server = try ReaderServer(in: self.folder, profile: profile, field: field)
            self.server = server
            serving = server.start()
        }

        func open() {
            var name = Array("/dev/null:\(folder.path)/reader.sock".utf8CString)
            #expect(unsafe IFDHCreateChannelByName(lun, &name) == 0)
        }

        func close() async {
            #expect(IFDHCloseChannel(lun) == 0)
            await stop()
        }

        func stop() async {
            server.stop()
            await serving.value
            folder.removeIfEmpty()
        }

        /// Waits for the expected presence, in the same way as pcscd.
        func wait(for presence: Int) async -> Bool {
            for _ in 0..<30_000 {
                if IFDHICCPresence(lun) == presence { return true }
                try? await Task.sleep(for: .milliseconds(1))
            }
            return false
        }

        func powerUp() async -> (result: Int, atr: [UInt8]) { await power(500) }

        /// Switches the power: 500 on, 501 off, 502 off and on.
        func power(_ action: UInt) async -> (result: Int, atr: [UInt8]) {
            await callDriver { [lun] in
                var atr = [UInt8](repeating: 0, count: 33)
                var length = UInt(atr.count)
                let result = unsafe IFDHPowerICC(lun, action, &atr, &length)
                return (result, Array(atr.prefix(Int(length))))
            }
        }

        func transmit(_ apdu: [UInt8], capacity: Int = 65548) async -> (result: Int, response: [UInt8]) {
            await callDriver { [lun] in
                var apdu = apdu
                var response = [UInt8](repeating: 0, count: capacity)
                var length = UInt(capacity)
                var header = IFDHeader(protocol: 1, length: 16)
                let result = unsafe IFDHTransmitToICC(
                    lun,
                    header,
                    &apdu,
                    UInt(apdu.count),
                    &response,
                    &length,
                    &header
                )
                return (result, Array(response.prefix(Int(length))))
            }
        }

        func control(_ code: UInt, _ command: [UInt8]) async -> (result: Int, response: [UInt8]) {
            await callDriver { [lun] in
                var command = command
                var response = [UInt8](repeating: 0, count: 64)
                var length: UInt = 0
                let result = unsafe IFDHControl(lun, code, &command, UInt(command.count), &response, 64, &length)
                return (result, Array(response.prefix(Int(length))))
            }
        }

        func capability(_ tag: UInt) async -> (result: Int, value: [UInt8]) {
            let (result, length, memory) = await capability(tag, room: 64)
            return (result, Array(memory.prefix(Int(length))))
        }

        /// Asks with room for so many bytes.
        ///
        /// - Returns: the number of bytes that the driver reports, and the memory. It may not have written more bytes.
        func capability(_ tag: UInt, room: Int) async -> (result: Int, length: UInt, memory: [UInt8]) {
            await callDriver { [lun] in
                var memory = [UInt8](repeating: 0xEE, count: 80)
                var length = UInt(room)
                let result = unsafe IFDHGetCapabilities(lun, tag, &length, &memory)
                return (result, length, memory)
            }
        }
    }

    private static let present = 615
    private static let absent = 616
    private static let noDevice = 617

    private static func ntag(_ last: UInt8) -> VirtualType2Tag {
        VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, last])
    }

    @Test func `A card is found, powered, asked and taken away`() async throws {
        let bench = try Bench(lun: 0)
        bench.field.bring(Self.ntag(0x80))
        bench.open()
        #expect(await bench.wait(for: Self.present))
        let (result, atr) = await bench.powerUp()
        #expect(result == 0)
        #expect(atr.count == 20)
        let answer = await bench.transmit([0xFF, 0xCA, 0, 0, 0])
        #expect(answer.result == 0)
        #expect(answer.response == [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80, 0x90, 0x00])
        // The host's buffer is too small for the answer.
        #expect(await bench.transmit([0xFF, 0xCA, 0, 0, 0], capacity: 4).result == 618)
        bench.field.removeAll()
        #expect(await bench.wait(for: Self.absent))
        #expect(await bench.transmit([0xFF, 0xCA, 0, 0, 0]).result == Self.absent)
        await bench.close()
    }

    @Test func `A card without power answers nothing, and one that is reset answers again`() async throws {
        let bench = try Bench(lun: 0x9_0000)
        bench.field.bring(Self.ntag(0x80))
        bench.open()
        #expect(await bench.wait(for: Self.present))
        let atr = await bench.powerUp().atr
        #expect(atr.count == 20)
        #expect(await bench.capability(0x9_0300).value == [4])
        let off = await bench.power(501)
        #expect(off.result == 0 && off.atr.isEmpty)
        #expect(await bench.capability(0x9_0300).value == [2])
        #expect(await bench.capability(0x0303).value.isEmpty)
        let silent = await bench.transmit([0xFF, 0xCA, 0, 0, 0])
        #expect(silent.result == Self.absent && silent.response.isEmpty)
        for _ in 0..<2 {
            let reset = await bench.power(502)
            #expect(reset.result == 0 && reset.atr == atr)
            #expect(await bench.capability(0x9_0300).value == [4])
            #expect(await bench.transmit([0xFF, 0xCA, 0, 0, 0]).response.suffix(3) == [0x80, 0x90, 0x00])
        }
        await bench.close()
    }

    @Test func `A removal is reported even if the next card is already there`() async throws {
        let bench = try Bench(lun: 0x1_0000)
        bench.field.bring(Self.ntag(0x80))
        bench.open()
        #expect(await bench.wait(for: Self.present))
        #expect(await bench.powerUp().result == 0)
        bench.field.removeAll()
        bench.field.bring(Self.ntag(0x81))
        #expect(await bench.wait(for: Self.absent))
        // The reader may have seen the one go before the other came.
        #expect(await bench.wait(for: Self.present))
        // The new card has no power yet.
        #expect(await bench.transmit([0xFF, 0xCA, 0, 0, 0]).result == Self.absent)
        #expect(await bench.powerUp().result == 0)
        #expect(await bench.transmit([0xFF, 0xCA, 0, 0, 0]).response.dropLast(2).last == 0x81)
        await bench.close()
    }

    /// pcscd's thread looks after each wait, and looks once more on the way to giving a card its power or taking it.
    @Test func `A removal is reported again until the waiting thread has checked by itself`() async throws {
        let bench = try Bench(lun: 0x8_0000)
        bench.field.bring(Self.ntag(0x80))
        bench.open()
        let looks = await callDriver { () -> [Int] in
            guard let wait = Self.waitFunction(bench.lun) else { return [] }
            func look() -> Int { IFDHICCPresence(bench.lun) }
            func swap(_ last: UInt8) {
                Self.powerUp(bench.lun)
                bench.field.removeAll()
                bench.field.bring(Self.ntag(last))
                // A card that has no power: the new one.
                while Self.presenceAttribute(bench.lun) != 2 { usleep(1000) }
            }
            // Also when the card is there at once: the driver notifies the thread that has waited.
            repeat { _ = wait(bench.lun, 1000) } while look() != Self.present
            // It comes between the look of a round and the power, and then before the round.
            swap(0x81)
            var looks = [look()]
            _ = wait(bench.lun, 60_000)
            looks += [look(), look()]
            _ = wait(bench.lun, 60_000)
            looks.append(look())
            swap(0x82)
            _ = wait(bench.lun, 60_000)
            looks += [look(), look()]
            _ = wait(bench.lun, 60_000)
            looks.append(look())
            return looks
        }
        #expect(looks == [Self.absent, Self.absent, Self.absent, Self.present, Self.absent, Self.absent, Self.present])
        await bench.close()
    }

    /// The function in which pcscd's thread waits for changes.
    private static func waitFunction(_ lun: UInt) -> (@convention(c) (UInt, CInt) -> Int)? {
        var value = [UInt8](repeating: 0, count: 8)
        var length: UInt = 8
        guard unsafe IFDHGetCapabilities(lun, 0x0FB3, &length, &value) == 0, length == 8 else { return nil }
        return unsafe value.withUnsafeBytes { unsafe $0.loadUnaligned(as: (@convention(c) (UInt, CInt) -> Int).self) }
    }

    private static func powerUp(_ lun: UInt) {
        var atr = [UInt8](repeating: 0, count: 33)
        var length: UInt = 33
        #expect(unsafe IFDHPowerICC(lun, 500, &atr, &length) == 0)
    }

    /// SCARD_ATTR_ICC_PRESENCE: 0 for no card, 2 for one without power, 4 for one that has it.
    private static func presenceAttribute(_ lun: UInt) -> UInt8 {
        var value: [UInt8] = [0]
        var length: UInt = 1
        _ = unsafe IFDHGetCapabilities(lun, 0x0009_0300, &length, &value)
        return value[0]
    }

    @Test func `A reader that comes later, leaves and comes again`() async throws {
        let folder = try PrivateFolder.random("ocn-driver")
        var bench = try Bench(lun: 0x2_0000, folder: folder)
        await bench.stop()
        bench.open()
        #expect(IFDHICCPresence(bench.lun) == Self.absent)
        for last in [0x80, 0x81] as [UInt8] {
            bench = try Bench(lun: 0x2_0000, folder: PrivateFolder(folder.path))
            bench.field.bring(Self.ntag(last))
            #expect(await bench.wait(for: Self.present))
            #expect(await bench.powerUp().result == 0)
            #expect(await bench.transmit([0xFF, 0xCA, 0, 0, 0]).response.dropLast(2).last == last)
            await bench.stop()
            #expect(await bench.wait(for: Self.absent))
            #expect(await bench.transmit([0xFF, 0xCA, 0, 0, 0]).result == Self.absent)
        }
        #expect(IFDHCloseChannel(bench.lun) == 0)
    }

    @Test func `Two readers are distinguished`() async throws {
        let benches = [try Bench(lun: 0x3_0000), try Bench(lun: 0x4_0000)]
        for (index, bench) in benches.enumerated() {
            bench.field.bring(Self.ntag(0x80 + UInt8(index)))
            bench.open()
        }
        for (index, bench) in benches.enumerated() {
            #expect(await bench.wait(for: Self.present))
            #expect(await bench.powerUp().result == 0)
            #expect(await bench.transmit([0xFF, 0xCA, 0, 0, 0]).response.dropLast(2).last == 0x80 + UInt8(index))
        }
        for bench in benches { await bench.close() }
    }

    @Test func `Escapes and capabilities are answered without a card`() async throws {
        let bench = try Bench(lun: 0x5_0000)
        bench.open()
        let escape: UInt = 0x4200_0001
        try await waitWhile(await bench.control(escape, [0xFF, 0x00, 0x48, 0x00, 0x00]).result != 0)
        #expect(await bench.control(escape, [0xFF, 0x00, 0x48, 0x00, 0x00]).response == Array("ACR122U215".utf8))
        #expect(await bench.control(0x42, [0xFF]).result == 614)
        #expect(await bench.capability(0x1_0100).value == Array("ACS".utf8) + [0])
        #expect(await bench.capability(0x1_0199).result == 600)
        #expect(await bench.powerUp().result == 608)
        await bench.close()
    }

    @Test func `A capability that has no room is refused, and nothing is written`() async throws {
        let bench = try Bench(lun: 0x8_0000)
        bench.field.bring(Self.ntag(0x81))
        bench.open()
        #expect(await bench.wait(for: Self.present))
        let atr = await bench.powerUp().atr
        #expect(atr.count == 20)
        let capabilities: [(tag: UInt, count: Int)] = [
            (0x0303, atr.count), (0x9_0303, atr.count), (0x9_0300, 1), (0x1_0100, 4), (0x0FAF, 1), (0x0FAD, 1),
            (0x0FAE, 1), (0x0FAC, 1), (0x0FB1, 1), (0x0FB2, 8), (0x0FB3, 8),
        ]
        for (tag, count) in capabilities {
            let (result, length, memory) = await bench.capability(tag, room: count)
            #expect(result == 0 && length == UInt(count), "\(tag): \(result), \(length)")
            #expect(memory[count...].allSatisfy { $0 == 0xEE }, "\(tag)")
            for room in [0, count - 1] {
                let (result, _, memory) = await bench.capability(tag, room: room)
                #expect(result == 618, "\(tag) with room for \(room)")
                #expect(memory.allSatisfy { $0 == 0xEE }, "\(tag) with room for \(room)")
            }
        }
        #expect(await bench.capability(0x0303).value == atr)
        await bench.close()
    }

    @Test(
        arguments: [
            // An impossible length, a message of an unknown kind, and answers without a request.
            [0x52, 0, 0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3], [0x3F, 0, 0, 0, 0, 1, 9], [0x52, 7, 0, 0, 0, 0],
            [0x52, 0, 0, 0, 0, 1, 0], [0x49, 0, 0],
        ] as [[UInt8]]
    )
    func `A reader that talks nonsense hurts nobody`(_ bytes: [UInt8]) async throws {
        let reader = try RawReader()
        var name = reader.deviceName
        #expect(unsafe IFDHCreateChannelByName(0x6_0000, &name) == 0)
        let connection = try #require(await reader.meet())
        #expect(connection.send(bytes))
        connection.end()
        // It left without a word: it is unplugged.
        var isUnplugged = false
        for _ in 0..<30_000 where !isUnplugged {
            isUnplugged = IFDHICCPresence(0x6_0000) == Self.noDevice
            try await Task.sleep(for: .milliseconds(1))
        }
        #expect(isUnplugged)
        #expect(IFDHCloseChannel(0x6_0000) == 0)
    }

    @Test func `A channel that was never made is no device`() {
        #expect(IFDHICCPresence(0x7_0000) == Self.noDevice)
        #expect(IFDHCloseChannel(0x7_0000) == Self.noDevice)
        #expect(IFDHCreateChannel(0x7_0000, 1) == Self.noDevice)
        var long = Array(("/dev/null:/" + String(repeating: "x", count: 200)).utf8CString)
        #expect(unsafe IFDHCreateChannelByName(0x7_0000, &long) == 612)
    }
}
