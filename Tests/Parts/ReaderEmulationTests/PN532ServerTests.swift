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

    /// In a process of its own, which can open one descriptor more: for the line's one end.
    @Test(.ownThreads) func `Where the line's other end can't be opened there is no line and no link`() async {
        await #expect(processExitsWith: .success) {
            let place = try Place()
            let next = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
            close(next)
            var limit = rlimit()
            unsafe getrlimit(__rlimit_resource_t(7), &limit)
            let before = limit.rlim_cur
            limit.rlim_cur = rlim_t(next + 1)
            #expect(unsafe setrlimit(__rlimit_resource_t(7), &limit) == 0)
            let problem = Self.problem(place.link)
            limit.rlim_cur = before
            #expect(unsafe setrlimit(__rlimit_resource_t(7), &limit) == 0)
            #expect(problem == "The pseudo-terminal can't be opened: Too many open files.")
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
