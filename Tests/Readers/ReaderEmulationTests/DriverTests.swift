// SPDX-License-Identifier: Apache-2.0
import CIFDHandler
import Glibc
import LinuxSupport
import ReaderEmulation
import Synchronization
import TagLink
import TestThreads
import Testing
import VirtualTags

/// A channel of the driver, with the functions that pcscd calls (IFD handler 3.0).
struct DriverChannel: Sendable {
    /// Result codes of the IFD handler.
    static let (errorTag, badArguments, unsupported) = (600, 612, 614)
    static let (powerFailed, present, absent, noDevice, noRoom) = (608, 615, 616, 617, 618)
    private static let luns = Atomic<UInt>(1)

    /// A number that no other channel has.
    let lun = luns.add(1, ordering: .relaxed).newValue << 16

    func open(_ name: String) -> Int {
        var name = Array(name.utf8CString)
        return unsafe IFDHCreateChannelByName(lun, &name)
    }

    func open(_ reader: RawReader) { #expect(open("/dev/null:\(reader.folder.path)/reader.sock") == 0) }
    func close() async -> Int { await callDriver { IFDHCloseChannel(lun) } }
    var presence: Int { IFDHICCPresence(lun) }

    /// Waits for the expected presence.
    func wait(for expected: Int) async throws { try await waitWhile(presence != expected) }

    /// The function in which pcscd's thread waits for changes.
    var waitFunction: (@convention(c) (UInt, CInt) -> Int)? {
        let value = capability(0x0FB3, room: 8)
        guard value.result == 0, value.length == 8 else { return nil }
        return unsafe value.memory.withUnsafeBytes {
            unsafe $0.loadUnaligned(as: (@convention(c) (UInt, CInt) -> Int).self)
        }
    }

    /// Switches the power: 500 on, 501 off, 502 off and on.
    func power(_ action: UInt = 500) -> (result: Int, atr: [UInt8]) {
        var atr = [UInt8](repeating: 7, count: 33)
        var length = UInt(atr.count)
        let result = unsafe IFDHPowerICC(lun, action, &atr, &length)
        return (result, Array(atr.prefix(Int(length))))
    }

    func transmit(_ apdu: [UInt8], capacity: Int = 65_548) -> (result: Int, response: [UInt8]) {
        var (apdu, response, length) = (apdu, [UInt8](repeating: 7, count: capacity), UInt(capacity))
        var header = IFDHeader(protocol: 1, length: 16)
        let result = unsafe IFDHTransmitToICC(lun, header, &apdu, UInt(apdu.count), &response, &length, &header)
        return (result, Array(response.prefix(Int(length))))
    }

    func control(_ code: UInt, _ command: [UInt8]) -> (result: Int, response: [UInt8]) {
        var (command, response, length) = (command, [UInt8](repeating: 7, count: 64), UInt(9))
        let result = unsafe IFDHControl(lun, code, &command, UInt(command.count), &response, 64, &length)
        return (result, Array(response.prefix(Int(length))))
    }

    /// A capability with so much room, and the memory around it.
    func capability(_ tag: UInt, room: Int = 64) -> (result: Int, length: UInt, memory: [UInt8]) {
        var (memory, length) = ([UInt8](repeating: 0xEE, count: 80), UInt(room))
        let result = unsafe IFDHGetCapabilities(lun, tag, &length, &memory)
        return (result, length, memory)
    }

    /// SCARD_ATTR_ICC_PRESENCE: 0 for no card, 2 for one without power, 4 for one with power.
    var cardState: UInt8 { capability(0x9_0300).memory[0] }
}

/// The driver that pcscd loads, with our reader behind its socket.
@Suite(.serialized, .timeLimit(.minutes(2))) struct DriverTests {
    private typealias Driver = DriverChannel
    private static let getUID: [UInt8] = [0xFF, 0xCA, 0, 0, 0]

    /// A reader at a socket, and the driver's channel to it.
    private final class Bench: Sendable {
        let field = VirtualField()
        let driver = DriverChannel()
        private let folder: PrivateFolder
        private let server: ReaderServer
        private let serving: Task<Void, Never>

        init(in folder: PrivateFolder? = nil) throws {
            self.folder = try folder ?? .random("ocn-driver")
            server = try ReaderServer(in: self.folder, profile: .acr122u, field: field)
            serving = server.start()
        }

        func open() { #expect(driver.open("/dev/null:\(folder.path)/reader.sock") == 0) }

        func stop() async {
            server.stop()
            await serving.value
            folder.removeIfEmpty()
        }

        func end() async {
            #expect(await driver.close() == 0)
            await stop()
        }

        /// The UID of the card, without its status word; nil where the command fails.
        func uid() async -> [UInt8]? {
            let (result, response) = await callDriver { [driver] in driver.transmit(DriverTests.getUID) }
            return result == 0 ? response.dropLast(2) : nil
        }
    }

    private static func uid(_ last: UInt8) -> [UInt8] { SampleTag.ntagUID.dropLast() + [last] }

    @Test
    func
        `driver with a card: pcscd gets presence, ATR, answers and capabilities through power, reset and removal`()
        async throws
    {
        let bench = try Bench()
        let driver = bench.driver
        bench.field.bring(SampleTag.ntag())
        bench.open()
        try await driver.wait(for: Driver.present)
        let atr = await callDriver { driver.power() }
        #expect(atr.result == 0 && atr.atr.count == 20 && driver.cardState == 4)
        #expect(await bench.uid() == SampleTag.ntagUID)
        // The host's buffer is too small for the answer.
        #expect(await callDriver { driver.transmit(Self.getUID, capacity: 4) }.result == Driver.noRoom)
        let off = await callDriver { driver.power(501) }
        #expect(off.result == 0 && off.atr.isEmpty && driver.cardState == 2)
        #expect(driver.capability(0x0303).length == 0)
        #expect(await callDriver { driver.transmit(Self.getUID) } == (Driver.absent, []))
        for _ in 0..<2 {
            #expect(await callDriver { driver.power(502) } == atr)
            #expect(await bench.uid() == SampleTag.ntagUID && driver.cardState == 4)
        }
        // A capability without room for it is refused, and nothing is written.
        let capabilities: [(tag: UInt, count: Int)] = [
            (0x0303, 20), (0x9_0303, 20), (0x9_0300, 1), (0x1_0100, 4), (0x0FAF, 1), (0x0FAD, 1), (0x0FAE, 1),
            (0x0FAC, 1), (0x0FB1, 1), (0x0FB2, 8), (0x0FB3, 8),
        ]
        for (tag, count) in capabilities {
            let (result, length, memory) = await callDriver { driver.capability(tag, room: count) }
            #expect(result == 0 && length == UInt(count) && memory[count...].allSatisfy { $0 == 0xEE }, "\(tag)")
            for room in [0, count - 1] {
                let (result, _, memory) = await callDriver { driver.capability(tag, room: room) }
                #expect(result == Driver.noRoom && memory.allSatisfy { $0 == 0xEE }, "\(tag) in \(room)")
            }
        }
        #expect(await callDriver { driver.capability(0x1_0199) }.result == Driver.errorTag)
        bench.field.removeAll()
        try await driver.wait(for: Driver.absent)
        #expect(await callDriver { driver.transmit(Self.getUID) }.result == Driver.absent)
        #expect(await callDriver { driver.power() }.result == Driver.powerFailed)
        // An escape needs no card: ACR122U's firmware.
        let firmware = await callDriver { driver.control(0x4200_0001, [0xFF, 0x00, 0x48, 0x00, 0x00]) }
        #expect(firmware == (0, Array("ACR122U215".utf8)))
        #expect(await callDriver { driver.control(0x42, [0xFF]) }.result == Driver.unsupported)
        await bench.end()
    }

    /// pcscd's thread looks after each wait, and looks once more on the way to giving a card its power or taking it.
    @Test
    func
        `card swapped for another: absent until the waiting thread's own second look, then present without power`()
        async throws
    {
        let bench = try Bench()
        bench.field.bring(SampleTag.ntag())
        bench.open()
        let looks = await callDriver { [driver = bench.driver, field = bench.field] () -> [Int] in
            guard let wait = driver.waitFunction else { return [] }
            func swap(_ last: UInt8) {
                _ = driver.power()
                field.removeAll()
                field.bring(SampleTag.ntag(last))
                waitWhile(driver.cardState != 2)
            }
            repeat { _ = wait(driver.lun, 1000) } while driver.presence != Driver.present
            // It comes between the look of a round and the power.
            swap(0x81)
            var looks = [driver.presence]
            for _ in 0..<2 {
                _ = wait(driver.lun, 60_000)
                looks.append(driver.presence)
            }
            return looks
        }
        #expect(looks == [Driver.absent, Driver.absent, Driver.present])
        // The new card has no power yet.
        #expect(await bench.uid() == nil)
        let driver = bench.driver
        #expect(await callDriver { driver.power() }.result == 0)
        #expect(await bench.uid() == Self.uid(0x81))
        await bench.end()
    }

    @Test func `reader that starts later, stops and starts again: its card is present while it runs, else absent`()
        async throws
    {
        let folder = try PrivateFolder.random("ocn-driver")
        let driver = Driver()
        #expect(driver.open("/dev/null:\(folder.path)/reader.sock") == 0)
        #expect(driver.presence == Driver.absent)
        for last in [0x80, 0x81] as [UInt8] {
            let bench = try Bench(in: PrivateFolder(folder.path))
            bench.field.bring(SampleTag.ntag(last))
            try await driver.wait(for: Driver.present)
            #expect(await callDriver { driver.power() }.result == 0)
            #expect(await callDriver { driver.transmit(Self.getUID) }.response.dropLast(2) == Self.uid(last)[...])
            await bench.stop()
            try await driver.wait(for: Driver.absent)
        }
        #expect(await driver.close() == 0)
    }

    @Test func `calls with wrong arguments or without a reader: each has its IFD result code, and nothing is written`()
        async
    {
        let (driver, unknown) = (Driver(), Driver())
        let path = "/no-such-folder/reader.sock"
        // The whole name is the path where nothing is before a colon.
        #expect(driver.open(path) == 0 && driver.presence == Driver.absent)
        #expect(driver.open("/dev/null:" + path) == Driver.badArguments)
        for name in ["", "/dev/null:", "/dev/null:/" + String(repeating: "x", count: 200)] {
            #expect(unknown.open(name) == Driver.badArguments)
        }
        #expect(unknown.presence == Driver.noDevice && IFDHCreateChannel(unknown.lun, 1) == Driver.noDevice)
        for (number, result) in [(1, 0), (2, 0), (0, 607), (3, 607)] as [(UInt, Int)] {
            #expect(IFDHSetProtocolParameters(driver.lun, number, 0, 0, 0, 0) == result)
        }
        var value: [UInt8] = [7]
        #expect(unsafe IFDHSetCapabilities(driver.lun, 0x0303, 1, &value) == Driver.unsupported)
        for (channel, tag) in [(driver, 0x0FFF), (driver, 0x1_0199), (unknown, 0x0303)] as [(Driver, UInt)] {
            let found = channel.capability(tag)
            #expect(found.result != 0 && found.length == 0 && found.memory[0] == 0xEE)
        }
        for action in [499, 503] as [UInt] {
            #expect(driver.power(action) == (Driver.unsupported, [UInt8](repeating: 7, count: 33)))
        }
        for action in 500...502 as ClosedRange<UInt> { #expect(driver.power(action) == (Driver.noDevice, [])) }
        for (count, isLong) in [(0, false), (65_548, false), (65_549, true)] {
            let command = [UInt8](repeating: 0, count: count)
            #expect(driver.transmit(command) == (isLong ? Driver.badArguments : Driver.absent, []))
            #expect(driver.control(0x4200_0001, command) == (isLong ? Driver.badArguments : Driver.noDevice, []))
        }
        #expect(await driver.close() == 0)
        #expect(await driver.close() == Driver.noDevice)
    }
}

/// What a hostile or broken reader can't do to the driver, which runs in pcscd as root.
///
/// They have eight of the driver's sixteen channels at most.
@Suite(.timeLimit(.minutes(2))) struct HostileReaderTests {
    private typealias Driver = DriverChannel

    @Test func `a reader that sends nonsense and leaves: the reader counts as unplugged`() async throws {
        for bytes in ["520000FFFFFFFF010203", "3F000000000109", "520700000000", "52000000000100", "490000"] {
            let (reader, driver) = (try RawReader(), Driver())
            driver.open(reader)
            let connection = try await reader.meet()
            #expect(connection.send([UInt8](hex: bytes)))
            connection.end()
            try await driver.wait(for: Driver.noDevice)
            #expect(await driver.close() == 0)
        }
    }

    @Test func `silent program, or a reader of another version: the driver hangs up and sends no byte`() async throws {
        let (reader, driver) = (try RawReader(), Driver())
        driver.open(reader)
        let silent = try #require(await reader.accept())
        #expect(await callDriver { silent.endsInSilence() })
        silent.end()
        var other = try #require(await reader.accept())
        // The driver connects again when the greeting was late.
        while !other.send(RawConnection.header("H", 0, 1) + [1]) { other = try #require(await reader.accept()) }
        let greeted = other
        #expect(await callDriver { greeted.endsInSilence() })
        other.end()
        #expect(driver.presence == Driver.absent)
        #expect(await driver.close() == 0)
    }

    @Test func `a link to a socket, or a folder that others can write: the driver does not connect`() async throws {
        let linked = try RawReader()
        let folder = try PrivateFolder.random("ocn-link")
        #expect(unsafe symlink(linked.folder.path + "/reader.sock", folder.path + "/reader.sock") == 0)
        let link = Driver()
        #expect(link.open("/dev/null:\(folder.path)/reader.sock") == 0)
        let rows = try ([0o720, 0o702, 0o1777] as [mode_t]).map { mode in
            let (reader, driver) = (try RawReader(), Driver())
            #expect(unsafe chmod(reader.folder.path, mode) == 0)
            driver.open(reader)
            return (reader, driver)
        }
        await withTaskGroup { group in
            for reader in [linked] + rows.map(\.0) {
                group.addTask { #expect(await reader.accept(within: 800) == nil, "\(reader.folder.path)") }
            }
        }
        for (reader, driver) in rows {
            #expect(unsafe chmod(reader.folder.path, 0o755) == 0)
            #expect(await reader.accept() != nil)
            #expect(await driver.close() == 0)
        }
        #expect(await link.close() == 0)
        try folder.remove("reader.sock")
        folder.removeIfEmpty()
    }

    @Test func `a mute reader: one call waits for the time limit, then the reader counts as unplugged`() async throws {
        let (reader, driver) = (try RawReader(), Driver())
        driver.open(reader)
        let connection = try await reader.meet()
        #expect(connection.send(RawConnection.header("I")))
        try await driver.wait(for: Driver.present)
        let isOver = Atomic(false)
        async let first = callDriver {
            defer { isOver.store(true, ordering: .sequentiallyConsistent) }
            return driver.power().result
        }
        #expect(await callDriver { connection.receive(7) }.first == UInt8(ascii: "P"))
        // Presence does not wait for the answer.
        _ = driver.presence
        let wasOver = isOver.load(ordering: .sequentiallyConsistent)
        #expect(!wasOver)
        #expect(await first == Driver.powerFailed)
        try await driver.wait(for: Driver.noDevice)
        #expect(await callDriver { driver.power() }.result == Driver.noDevice)
        #expect(await callDriver { connection.endsInSilence() })
        #expect(await driver.close() == 0)
        connection.end()
    }

    @Test func `answers to the driver: only the first one with the call's sequence number is taken`() async throws {
        let (reader, driver) = (try RawReader(), Driver())
        driver.open(reader)
        let connection = try await reader.meet()
        #expect(connection.send(RawConnection.header("I")))
        try await driver.wait(for: Driver.present)
        func answer(_ sequence: UInt8, _ byte: UInt8) -> [UInt8] {
            RawConnection.header("R", sequence, 3) + [0, 0x3B, byte]
        }
        for round: UInt8 in 1...3 {
            async let atr = callDriver { driver.power().atr }
            let request = await callDriver { connection.receive(7) }
            let number = try #require(request.count == 7 ? request[1] : nil)
            #expect(connection.send(answer(number &- 1, 0xF0) + answer(number &+ 1, 0xF1)))
            #expect(connection.send(answer(number, round) + answer(number, 0xF2)))
            #expect(await atr == [0x3B, round])
        }
        #expect(await driver.close() == 0)
        connection.end()
    }

}
