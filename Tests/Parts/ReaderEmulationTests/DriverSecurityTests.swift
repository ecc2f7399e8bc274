// SPDX-License-Identifier: Apache-2.0
import CIFDHandler
import Dispatch
import Glibc
import PrivateStorage
import ReaderEmulation
import Synchronization
import TagLink
import Testing
import VirtualTags

/// What a hostile or broken reader, and another user, can't do to the driver in pcscd and to the reader's own program.
@Suite(.serialized) struct `The driver and a reader that means no good` {
    private static let present = 615
    private static let absent = 616
    private static let noDevice = 617

    private func open(_ lun: UInt, _ reader: RawReader) {
        var name = reader.deviceName
        #expect(unsafe IFDHCreateChannelByName(lun, &name) == 0)
    }

    /// Waits until the driver says this of the card.
    private func presence(_ lun: UInt, becomes expected: Int) async -> Bool {
        for _ in 0..<10_000 {
            if IFDHICCPresence(lun) == expected { return true }
            try? await Task.sleep(for: .milliseconds(1))
        }
        return false
    }

    /// Less than that an operation that waits for the reader would take, and more than one takes on a busy machine.
    private static let bound = Duration.seconds(60)

    @Test func `A reader that reports without end can be closed, and pcscd hears little of it`() async throws {
        let lun: UInt = 0x10_0000
        let reader = try RawReader()
        open(lun, reader)
        let connection = try #require(await reader.meet())
        let isFlooding = Atomic(true)
        let flood = RawConnection.header("I") + RawConnection.header("O")
        let many = Array(repeating: flood, count: 1000).flatMap(\.self)
        async let flooding: Void = callDriver { [connection] in
            while isFlooding.load(ordering: .relaxed) {
                if !connection.send(many), errno != EAGAIN { return }
            }
        }
        // pcscd's thread, which waits for changes and looks at each.
        let changes = await callDriver { () -> Int in
            var value = [UInt8](repeating: 0, count: 8)
            var length: UInt = 8
            guard unsafe IFDHGetCapabilities(lun, 0x0FB3, &length, &value) == 0 else { return -1 }
            let wait = unsafe value.withUnsafeBytes { bytes in
                unsafe unsafeBitCast(
                    bytes.loadUnaligned(as: UInt.self),
                    to: (@convention(c) (UInt, Int32) -> Int).self
                )
            }
            let end = ContinuousClock.now + .seconds(1)
            var count = 0
            while ContinuousClock.now < end {
                _ = wait(lun, 100)
                count += 1
            }
            return count
        }
        // 64 at once and 50 a second; a wait that ends without a change counts too.
        #expect(changes > 0)
        #expect(changes < 400)
        let start = ContinuousClock.now
        #expect(await callDriver { IFDHCloseChannel(lun) } == 0)
        #expect(ContinuousClock.now - start < Self.bound)
        isFlooding.store(false, ordering: .relaxed)
        await flooding
        connection.end()
    }

    @Test func `A reader that sends a message byte by byte can be closed`() async throws {
        let lun: UInt = 0x11_0000
        let reader = try RawReader()
        open(lun, reader)
        let connection = try #require(await reader.meet())
        #expect(connection.send([0x49, 0, 0]))
        let start = ContinuousClock.now
        #expect(await callDriver { IFDHCloseChannel(lun) } == 0)
        #expect(ContinuousClock.now - start < Self.bound)
        connection.end()
    }

    @Test func `A program that is no reader gets no byte`() async throws {
        let lun: UInt = 0x12_0000
        let reader = try RawReader()
        open(lun, reader)
        let silent = try #require(await reader.accept())
        #expect(await callDriver { silent.endsInSilence(within: 10_000) })
        silent.end()
        // The same for another protocol version. The driver connects again when the greeting was late.
        var other = try #require(await reader.accept())
        while !other.send(RawConnection.header("H", 0, 1) + [1]) { other = try #require(await reader.accept()) }
        let greeted = other
        #expect(await callDriver { greeted.endsInSilence(within: 10_000) })
        greeted.end()
        #expect(IFDHICCPresence(lun) == Self.absent)
        #expect(await callDriver { IFDHCloseChannel(lun) } == 0)
    }

    @Test func `A link in place of the socket is not followed, nor a folder used that others may write`() async throws {
        let reader = try RawReader()
        let folder = try PrivateFolder.random("ocn-link")
        defer { folder.removeIfEmpty() }
        #expect(unsafe symlink(reader.folder.path + "/reader.sock", folder.path + "/reader.sock") == 0)
        var name = Array("/dev/null:\(folder.path)/reader.sock".utf8CString)
        #expect(unsafe IFDHCreateChannelByName(0x13_0000, &name) == 0)
        #expect(await reader.accept(within: 800) == nil)
        #expect(await callDriver { IFDHCloseChannel(0x13_0000) } == 0)
        try folder.remove("reader.sock")

        #expect(unsafe chmod(reader.folder.path, 0o777) == 0)
        open(0x14_0000, reader)
        #expect(await reader.accept(within: 800) == nil)
        #expect(unsafe chmod(reader.folder.path, 0o700) == 0)
        #expect(await reader.accept() != nil)
        #expect(await callDriver { IFDHCloseChannel(0x14_0000) } == 0)
    }

    @Test func `A mute reader costs one time limit and counts as unplugged`() async throws {
        let lun: UInt = 0x15_0000
        let reader = try RawReader()
        open(lun, reader)
        let connection = try #require(await reader.meet())
        #expect(connection.send(RawConnection.header("I")))
        #expect(await presence(lun, becomes: Self.present))
        let power: @Sendable () -> Int = {
            var atr = [UInt8](repeating: 0, count: 33)
            var length: UInt = 33
            return unsafe IFDHPowerICC(lun, 500, &atr, &length)
        }
        let isOver = Atomic(false)
        async let first = callDriver {
            defer { isOver.store(true, ordering: .sequentiallyConsistent) }
            return power()
        }
        #expect(await callDriver { connection.receive(7) }.first == UInt8(ascii: "P"))
        // Meanwhile the presence is looked at, which does not wait for the answer that never comes.
        _ = IFDHICCPresence(lun)
        let wasOver = isOver.load(ordering: .sequentiallyConsistent)
        #expect(!wasOver)
        #expect(await first == 608)
        #expect(await presence(lun, becomes: Self.noDevice))
        // The next call sends nothing that would have to be answered.
        #expect(await callDriver(power) == Self.noDevice)
        #expect(await callDriver { connection.endsInSilence(within: 30_000) })
        #expect(await callDriver { IFDHCloseChannel(lun) } == 0)
        connection.end()
    }

    @Test(arguments: [0o770, 0o720, 0o707, 0o702, 0o1777] as [mode_t])
    func `No folder is used that a group or everybody may write`(mode: mode_t) async throws {
        let reader = try RawReader()
        #expect(unsafe chmod(reader.folder.path, mode) == 0)
        open(0x16_0000, reader)
        #expect(await reader.accept(within: 800) == nil)
        #expect(unsafe chmod(reader.folder.path, 0o755) == 0)
        #expect(await reader.accept() != nil)
        #expect(await callDriver { IFDHCloseChannel(0x16_0000) } == 0)
    }

    @Test func `Only the answer with a call's own number is taken, and only once`() async throws {
        let lun: UInt = 0x17_0000
        let reader = try RawReader()
        open(lun, reader)
        let connection = try #require(await reader.meet())
        #expect(connection.send(RawConnection.header("I")))
        #expect(await presence(lun, becomes: Self.present))
        func answer(_ sequence: UInt8, _ byte: UInt8) -> [UInt8] {
            RawConnection.header("R", sequence, 3) + [0, 0x3B, byte]
        }
        for round: UInt8 in 1...3 {
            async let atr = callDriver { () -> [UInt8] in
                var atr = [UInt8](repeating: 0, count: 33)
                var length: UInt = 33
                let result = unsafe IFDHPowerICC(lun, 500, &atr, &length)
                return result == 0 ? Array(atr.prefix(Int(length))) : []
            }
            let request = await callDriver { connection.receive(7) }
            #expect(request.first == UInt8(ascii: "P"))
            let number = try #require(request.count == 7 ? request[1] : nil)
            // Answers of calls before and to come, then this one's, and another that says otherwise.
            #expect(connection.send(answer(number &- 1, 0xF0) + answer(number &+ 1, 0xF1)))
            #expect(connection.send(answer(number, round) + answer(number, 0xF2)))
            #expect(await atr == [0x3B, round])
        }
        #expect(await callDriver { IFDHCloseChannel(lun) } == 0)
        connection.end()
    }

    @Test func `A channel can be closed while other threads call it`() async throws {
        for round in 0..<20 {
            let lun = 0x80_0000 + UInt(round) << 16
            let reader = try RawReader()
            open(lun, reader)
            let connection = try #require(await reader.meet())
            #expect(connection.send(RawConnection.header("I")))
            let calls = (0..<4).map { index in
                Task {
                    await callDriver {
                        var atr = [UInt8](repeating: 0, count: 33)
                        var length: UInt = 33
                        while true {
                            let isGone =
                                index % 2 == 0
                                ? IFDHICCPresence(lun) == Self.noDevice
                                : unsafe IFDHPowerICC(lun, 500, &atr, &length) == Self.noDevice
                            if isGone { return }
                            length = 33
                        }
                    }
                }
            }
            #expect(await callDriver { IFDHCloseChannel(lun) } == 0)
            for call in calls { await call.value }
            connection.end()
        }
    }
}

/// Who may be at the other end of a reader's socket.
struct `The socket of an emulated reader` {
    private func connect(_ folder: PrivateFolder) throws -> RawConnection {
        RawConnection(descriptor: try #require(PrivateSocket.connect(folder.path + "/reader.sock")))
    }

    @Test func `is its owner's alone, greets first, and drops who does not answer`() async throws {
        let folder = try PrivateFolder.random("ocn-socket")
        defer { folder.removeIfEmpty() }
        let server = try ReaderServer(in: folder, profile: .acr122u, field: VirtualField())
        let serving = server.start()
        var status = stat()
        #expect(unsafe lstat(folder.path + "/reader.sock", &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o600)

        let silent = try connect(folder)
        #expect(await callDriver { silent.receive(7) } == RawConnection.header("H", 0, 1) + [2])
        // While it holds the place another one is turned away; then the place is free.
        #expect(await callDriver { silent.receive(1, within: 10_000) }.isEmpty)
        silent.end()
        var isGreeted = false
        for _ in 0..<20 where !isGreeted {
            let driver = try connect(folder)
            isGreeted = await callDriver { driver.greet() }
            driver.end()
        }
        #expect(isGreeted)
        server.stop()
        await serving.value
    }

    @Test func `answers nothing before it was greeted`() async throws {
        let folder = try PrivateFolder.random("ocn-socket")
        defer { folder.removeIfEmpty() }
        let server = try ReaderServer(in: folder, profile: .acr122u, field: VirtualField())
        let serving = server.start()
        let rude = try connect(folder)
        #expect(await callDriver { rude.receive(7) }.count == 7)
        // On a busy machine the reader may have dropped it already, which is no answer either.
        _ = rude.send(RawConnection.header("P", 1, 1) + [1])
        #expect(await callDriver { rude.receive(1) }.isEmpty)
        rude.end()
        server.stop()
        await serving.value
    }

    @Test
    func `A message that the protocol does not have ends the connection, and the longest that it has is answered`()
        async throws
    {
        let folder = try PrivateFolder.random("ocn-socket")
        defer { folder.removeIfEmpty() }
        let server = try ReaderServer(in: folder, profile: .acr122u, field: VirtualField())
        let serving = server.start()
        // Messages that are a byte or much too long, of an unknown kind, or incomplete, and repeated greetings.
        let wrong: [[UInt8]] = [
            [0x54, 1, 0x00, 0x01, 0x00, 0x1D], [0x54, 1, 0xFF, 0xFF, 0xFF, 0xFF], [0x54, 1, 0x7F, 0xFF, 0xFF, 0xFF],
            RawConnection.header("Z", 1), RawConnection.header("P", 1), RawConnection.header("P", 1, 1) + [9],
            RawConnection.header("C", 1, 3) + [1, 2, 3], RawConnection.header("G", 1, 3) + [1, 2, 3],
            RawConnection.header("H", 1), RawConnection.header("H", 1, 1) + [2],
        ]
        for message in wrong {
            let driver = try await RawConnection.meet(folder)
            #expect(driver.send(message))
            #expect(await callDriver { driver.endsInSilence(within: 30_000) }, "\(message)")
            driver.end()
        }
        let driver = try await RawConnection.meet(folder)
        let longest = [0x54, 7, 0x00, 0x01, 0x00, 0x1C] + [UInt8](repeating: 0, count: 0x1_001C)
        let isSent = await callDriver { () -> Bool in
            // The socket does not block, and may have less room.
            var rest = longest[...]
            while !rest.isEmpty {
                let part = Array(rest.prefix(4096))
                if driver.send(part) { rest = rest.dropFirst(part.count) } else if errno != EAGAIN { return false }
            }
            return true
        }
        #expect(isSent)
        // There is no card.
        #expect(await callDriver { driver.receive(7) } == RawConnection.header("R", 7, 1) + [1])
        driver.end()
        server.stop()
        await serving.value
    }
}
