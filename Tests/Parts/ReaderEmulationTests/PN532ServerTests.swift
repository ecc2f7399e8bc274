// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Glibc
import PrivateStorage
import ReaderEmulation
import TagLink
import TestThreads
import Testing
import VirtualTags

/// A PN532 on a pseudo-terminal, with the link by which hosts find it.
@Suite(.timeLimit(.minutes(2))) struct `A PN532 that other programs use over a line` {
    /// A folder for links, which is removed with them.
    private final class Place {
        let folder: PrivateFolder
        let link: String

        init() throws {
            folder = try .random("ocn-line")
            link = folder.path + "/line"
        }

        deinit {
            _ = unsafe unlink(link)
            _ = unsafe unlink(link + "-2")
            folder.removeIfEmpty()
        }

        /// What a link says; nil when there is none.
        func target(_ suffix: String = "") -> String? {
            var bytes = [UInt8](repeating: 0, count: 512)
            let count = unsafe bytes.withUnsafeMutableBytes { memory -> Int in
                guard let first = memory.baseAddress else { return -1 }
                return unsafe readlink(link + suffix, first, memory.count)
            }
            return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
        }
    }

    private static func problem(_ link: String) -> String? {
        do throws(EmulationError) {
            _ = try PN532Server(path: link, field: VirtualField())
            return nil
        } catch { return error.reason }
    }

    private static func ended(_ server: PN532Server, _ work: Task<Void, Never>) async {
        server.stop()
        await work.value
    }

    /// Asks for the firmware's version, as each host does first.
    private static func version(_ path: String) -> [UInt8] {
        let line = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard line >= 0 else { return [] }
        defer { close(line) }
        let question: [UInt8] = [0x55, 0x55, 0, 0, 0, 0, 0, 0xFF, 0x02, 0xFE, 0xD4, 0x02, 0x2A, 0]
        guard unsafe write(line, question, question.count) == question.count else { return [] }
        var (answer, byte) = ([UInt8](), UInt8(0))
        var readable = pollfd(fd: line, events: Int16(POLLIN), revents: 0)
        while answer.count < 19, unsafe poll(&readable, 1, 30_000) > 0, unsafe read(line, &byte, 1) == 1 {
            answer.append(byte)
        }
        return answer
    }

    @Test func `Its link is there until it stops, and one host after the other is answered`() async throws {
        let place = try Place()
        let server = try PN532Server(path: place.link, field: VirtualField())
        let work = server.start()
        #expect(place.target() == server.terminalName)
        for _ in 0..<2 {
            let answer = await callDriver { [link = place.link] in Self.version(link) }
            #expect(answer.prefix(6) == [0, 0, 0xFF, 0, 0xFF, 0])
            #expect(answer.dropFirst(6).prefix(8) == [0, 0, 0xFF, 0x06, 0xFA, 0xD5, 0x03, 0x32])
        }
        await Self.ended(server, work)
        #expect(place.target() == nil)
        // The place is free again.
        let next = try PN532Server(path: place.link, field: VirtualField())
        await Self.ended(next, next.start())
    }

    /// A host's end of a line.
    private struct Host: Sendable {
        let line: Int32

        init(_ path: String) { line = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC) }

        func send(_ bytes: [UInt8]) -> Bool { unsafe write(line, bytes, bytes.count) == bytes.count }

        /// So many bytes, fewer when they do not come.
        func receive(_ count: Int) -> [UInt8] {
            var (answer, byte) = ([UInt8](), UInt8(0))
            var readable = pollfd(fd: line, events: Int16(POLLIN), revents: 0)
            while answer.count < count, unsafe poll(&readable, 1, 30_000) > 0, unsafe read(line, &byte, 1) == 1 {
                answer.append(byte)
            }
            return answer
        }
    }

    @Test func `A tag that comes while a host waits for one is told to it`() async throws {
        let (place, field) = (try Place(), VirtualField())
        let server = try PN532Server(path: place.link, field: field)
        let work = server.start()
        let host = Host(place.link)
        defer { close(host.line) }
        #expect(host.send(hostFrame([0x4A, 1, 0])))
        #expect(await callDriver { host.receive(6) } == PN532ChipFrame.acknowledge)
        field.bring(VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]))
        let list: [UInt8] = [1, 1, 0x00, 0x44, 0x00, 7, 0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]
        let answer = PN532ChipFrame.answer(to: 0x4A, list)
        #expect(await callDriver { host.receive(answer.count) } == answer)
        await Self.ended(server, work)
    }

    /// Where the chip is a card for another reader.
    private final class CardSpot: CardPlace {
        let card = Locked<HostedCard?>(nil)
        let isRemoved = Locked(false)

        func bring(_ card: HostedCard) { self.card.withLock { $0 = card } }
        func remove() { isRemoved.withLock { $0 = true } }
    }

    @Test func `A reader that comes while the chip is a card is told to its host, and the card goes with the line`()
        async throws
    {
        let (place, spot) = (try Place(), CardSpot())
        let server = try PN532Server(path: place.link, field: VirtualField(), place: spot)
        let work = server.start()
        let host = Host(place.link)
        defer { close(host.line) }
        let command: [UInt8] = [0x8C, 0x05, 0x04, 0x03, 0x11, 0x22, 0x33, 0x20] + [UInt8](repeating: 0, count: 30)
        #expect(host.send(hostFrame([0x12, 0x34]) + hostFrame(command)))
        let begin = PN532ChipFrame.acknowledge + PN532ChipFrame.answer(to: 0x12, []) + PN532ChipFrame.acknowledge
        #expect(await callDriver { host.receive(begin.count) } == begin)
        try await waitWhile(spot.card.withLock { $0 == nil })
        try #require(spot.card.withLock { $0 }).activated()
        let answer = PN532ChipFrame.answer(to: 0x8C, [0x08, 0xE0, 0x80])
        #expect(await callDriver { host.receive(answer.count) } == answer)
        #expect(spot.isRemoved.withLock { !$0 })
        await Self.ended(server, work)
        #expect(spot.isRemoved.withLock { $0 })
    }

    @Test func `Its line is one for bytes of eight bits, with nothing else done to them`() async throws {
        let place = try Place()
        let server = try PN532Server(path: place.link, field: VirtualField())
        let line = unsafe open(place.link, O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { close(line) }
        var settings = termios()
        #expect(unsafe tcgetattr(line, &settings) == 0)
        #expect(settings.c_cflag & tcflag_t(CSIZE) == tcflag_t(CS8) && settings.c_cflag & tcflag_t(CREAD) != 0)
        #expect(settings.c_lflag & tcflag_t(ECHO | ICANON | ISIG) == 0 && settings.c_oflag & tcflag_t(OPOST) == 0)
        await Self.ended(server, server.start())
    }

    @Test func `A host that has the line open hears when it stops`() async throws {
        let place = try Place()
        let server = try PN532Server(path: place.link, field: VirtualField())
        let work = server.start()
        let line = unsafe open(place.link, O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { close(line) }
        func hangsUp(within milliseconds: Int32) async -> Bool {
            await callDriver {
                var line = pollfd(fd: line, events: Int16(POLLIN), revents: 0)
                return unsafe poll(&line, 1, milliseconds) > 0 && line.revents & Int16(POLLHUP) != 0
            }
        }
        #expect(await !hangsUp(within: 0))
        await Self.ended(server, work)
        #expect(await hangsUp(within: 30_000))
        // Of the terminal's own end, nothing is open but what the host has opened.
        let names = [server.terminalName, server.terminalName + " (deleted)"]
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter { descriptor in
            let file = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + descriptor)
            return file.map { names.contains($0) } ?? false
        }
        #expect(descriptors == [String(line)])
        withExtendedLifetime(server) {}
    }

    @Test func `A link that was left behind is replaced, whether or not its terminal is there`() async throws {
        let place = try Place()
        #expect(unsafe symlink("/dev/pts/999999999", place.link) == 0)
        let server = try PN532Server(path: place.link, field: VirtualField())
        let work = server.start()
        #expect(place.target() == server.terminalName)
        // A link that was left behind may lead to the terminal of another link's emulation by now.
        #expect(unsafe symlink(server.terminalName, place.link + "-2") == 0)
        let other = try PN532Server(path: place.link + "-2", field: VirtualField())
        #expect(place.target("-2") == other.terminalName && other.terminalName != server.terminalName)
        await Self.ended(other, other.start())
        #expect(place.target("-2") == nil && place.target() == server.terminalName)
        // Also if it has the same name, in another folder.
        let elsewhere = try Place()
        #expect(unsafe symlink(server.terminalName, elsewhere.link) == 0)
        let third = try PN532Server(path: elsewhere.link, field: VirtualField())
        #expect(elsewhere.target() == third.terminalName && third.terminalName != server.terminalName)
        await Self.ended(third, third.start())
        await Self.ended(server, work)
    }

    @Test func `A link of a running emulation stays, and so does what is no link to a terminal`() async throws {
        let place = try Place()
        let server = try PN532Server(path: place.link, field: VirtualField())
        let work = server.start()
        #expect(
            Self.problem(place.link)
                == "Another program is the PN532 at \(place.link) already. Stop it, or give another path."
        )
        // It is the same link when its path is written in another way.
        for link in [place.folder.path + "//line", place.folder.path + "/./line"] {
            #expect(
                Self.problem(link) == "Another program is the PN532 at \(link) already. Stop it, or give another path."
            )
        }
        #expect(place.target() == server.terminalName)
        let long = "/dev/pts/" + String(repeating: "1", count: 300)
        for target in ["/dev/null", "/dev/pts/", "/dev/pts/1x", "/dev/pts/../null", "line", "line/dev/pts/1", long] {
            #expect(unsafe symlink(target, place.link + "-2") == 0)
            #expect(
                Self.problem(place.link + "-2")?.contains("is a link to something else already.") == true,
                "\(target)"
            )
            #expect(place.target("-2") == target)
            #expect(unsafe unlink(place.link + "-2") == 0)
        }
        try place.folder.write("line-2", [1])
        #expect(Self.problem(place.link + "-2")?.contains("is a file already.") == true)
        #expect(Self.problem(place.folder.path + "/none/line")?.contains("can't be made") == true)
        await Self.ended(server, work)
    }

    /// The number of the next descriptor.
    private static func nextNumber() -> Int32 {
        let next = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        close(next)
        return next
    }

    /// Calls something while the process can open so many descriptors more.
    private static func with<Value>(descriptors: Int32, _ body: () throws -> Value) rethrows -> Value {
        let next = nextNumber()
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(7), &limit)
        let before = limit.rlim_cur
        limit.rlim_cur = rlim_t(next + descriptors)
        #expect(unsafe setrlimit(__rlimit_resource_t(7), &limit) == 0)
        defer {
            limit.rlim_cur = before
            #expect(unsafe setrlimit(__rlimit_resource_t(7), &limit) == 0)
        }
        return try body()
    }

    /// In a process of its own, which can open no descriptor, or one for the line's one end.
    @Test(.ownThreads) func `Where one of the line's ends can't be opened there is no line and no link`() async {
        await #expect(processExitsWith: .success) {
            let place = try Place()
            let next = Self.nextNumber()
            for (room, sentence) in [(0, "No pseudo-terminal can be made"), (1, "The pseudo-terminal can't be opened")]
                as [(Int32, String)]
            {
                let problem = Self.with(descriptors: room) { Self.problem(place.link) }
                #expect(problem == "\(sentence): Too many open files.")
                #expect(place.target() == nil && Self.nextNumber() == next)
            }
        }
    }

    /// In a process of its own, whose descriptors are counted.
    @Test(.ownThreads) func `Nothing stays open of a line that can't be made`() async throws {
        let place = try Place()
        let server = try PN532Server(path: place.link, field: VirtualField())
        let work = server.start()
        await #expect(processExitsWith: .success) { [link = place.link as String] in
            let next = Self.nextNumber()
            #expect(Self.problem(link + "/none")?.isEmpty == false)
            #expect(Self.problem(link)?.hasPrefix("Another program is the PN532 at ") == true)
            #expect(Self.problem("/no-such-folder/line")?.contains("can't be made") == true)
            #expect(Self.nextNumber() == next)
        }
        await Self.ended(server, work)
    }

    /// In a process of its own, without standard input and in the folder of the link.
    @Test(.ownThreads) func `A line may have the number of standard input, and a link by its name alone`() async {
        await #expect(processExitsWith: .success) {
            let place = try Place()
            try #require(unsafe chdir(place.folder.path) == 0)
            close(STDIN_FILENO)
            let server = try PN532Server(path: "line", field: VirtualField())
            #expect(place.target() == server.terminalName)
            for link in ["line", "./line", place.link] {
                #expect(Self.problem(link)?.hasPrefix("Another program is the PN532 at \(link) already.") == true)
            }
            await Self.ended(server, server.start())
            #expect(place.target() == nil)
        }
    }

    @Test func `A link that another program has changed meanwhile stays when it stops`() async throws {
        let place = try Place()
        let server = try PN532Server(path: place.link, field: VirtualField())
        let work = server.start()
        #expect(unsafe unlink(place.link) == 0 && symlink("/dev/null", place.link) == 0)
        await Self.ended(server, work)
        #expect(place.target() == "/dev/null")
    }
}
