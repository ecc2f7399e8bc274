// SPDX-License-Identifier: Apache-2.0
import CIFDHandler
import Dispatch
import Glibc
import ReaderEmulation
import TagLink
import Testing
import VirtualTags

/// Calls the driver on a thread of its own: it waits for the answer, and the tests' own threads are few.
private func callDriver<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(returning: body()) }
    }
}

/// The functions that pcscd calls, called as pcscd does, with a reader of ours behind the socket.
@Suite(.serialized) struct `The driver that pcscd loads` {
    /// A reader at a socket, and the driver's channel to it.
    private final class Bench: Sendable {
        let field = VirtualField()
        let path: String
        let lun: UInt
        private let server: ReaderServer
        private let serving: Task<Void, Never>

        init(lun: UInt, profile: ReaderProfile = .acr122u) throws {
            path = "/tmp/ocn-driver-\(getpid())-\(lun).sock"
            self.lun = lun
            let server = try ReaderServer(path: path, profile: profile, field: field)
            self.server = server
            serving = server.start()
        }

        func open() {
            var name = Array("/dev/null:\(path)".utf8CString)
            #expect(unsafe IFDHCreateChannelByName(lun, &name) == 0)
        }

        func close() async {
            #expect(IFDHCloseChannel(lun) == 0)
            await stop()
        }

        func stop() async {
            server.stop()
            await serving.value
        }

        /// Waits until the presence is what it should be, as pcscd learns of it.
        func wait(for presence: Int) async -> Bool {
            for _ in 0..<2000 {
                if IFDHICCPresence(lun) == presence { return true }
                try? await Task.sleep(for: .milliseconds(1))
            }
            return false
        }

        func powerUp() async -> (result: Int, atr: [UInt8]) {
            await callDriver { [lun] in
                var atr = [UInt8](repeating: 0, count: 33)
                var length = UInt(atr.count)
                let result = unsafe IFDHPowerICC(lun, 500, &atr, &length)
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
            await callDriver { [lun] in
                var value = [UInt8](repeating: 0, count: 64)
                var length: UInt = 64
                let result = unsafe IFDHGetCapabilities(lun, tag, &length, &value)
                return (result, Array(value.prefix(Int(length))))
            }
        }
    }

    private static let present = 615
    private static let absent = 616
    private static let noDevice = 617

    private static func ntag(_ last: UInt8) -> Type2Tag {
        Type2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, last])
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

    @Test func `A removal is told even if the next card is there already`() async throws {
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

    @Test func `A reader that comes later, leaves and comes again`() async throws {
        var bench = try Bench(lun: 0x2_0000)
        await bench.stop()
        bench.open()
        #expect(IFDHICCPresence(bench.lun) == Self.absent)
        for last in [0x80, 0x81] as [UInt8] {
            bench = try Bench(lun: 0x2_0000)
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

    @Test func `Two readers are told apart`() async throws {
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
        for _ in 0..<2000 where await bench.control(escape, [0xFF, 0x00, 0x48, 0x00, 0x00]).result != 0 {
            try await Task.sleep(for: .milliseconds(1))
        }
        #expect(await bench.control(escape, [0xFF, 0x00, 0x48, 0x00, 0x00]).response == Array("ACR122U215".utf8))
        #expect(await bench.control(0x42, [0xFF]).result == 614)
        #expect(await bench.capability(0x1_0100).value == Array("ACS".utf8) + [0])
        #expect(await bench.capability(0x1_0199).result == 600)
        #expect(await bench.powerUp().result == 608)
        await bench.close()
    }

    /// A listener that is no reader of ours: it sends what it is told to.
    private func listener(_ path: String, sends octets: [UInt8]) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        unsafe unlink(path)
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(status == 0)
        #expect(listen(descriptor, 1) == 0)
        return descriptor
    }

    @Test(
        arguments: [
            // A length that no message has, a message of an unknown kind, and answers that nobody asked for.
            [0x52, 0, 0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3], [0x3F, 0, 0, 0, 0, 1, 9], [0x52, 7, 0, 0, 0, 0],
            [0x52, 0, 0, 0, 0, 1, 0], [0x49, 0, 0],
        ] as [[UInt8]]
    )
    func `A reader that talks nonsense hurts nobody`(_ octets: [UInt8]) async throws {
        let path = "/tmp/ocn-driver-\(getpid())-nonsense.sock"
        let listening = listener(path, sends: octets)
        var name = Array("/dev/null:\(path)".utf8CString)
        #expect(unsafe IFDHCreateChannelByName(0x6_0000, &name) == 0)
        let connection = accept(listening, nil, nil)
        #expect(connection >= 0)
        var octets = octets
        #expect(unsafe send(connection, &octets, octets.count, Int32(MSG_NOSIGNAL)) == octets.count)
        close(connection)
        // It left without a word: it is unplugged.
        var isUnplugged = false
        for _ in 0..<2000 where !isUnplugged {
            isUnplugged = IFDHICCPresence(0x6_0000) == Self.noDevice
            try await Task.sleep(for: .milliseconds(1))
        }
        #expect(isUnplugged)
        close(listening)
        unsafe unlink(path)
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
