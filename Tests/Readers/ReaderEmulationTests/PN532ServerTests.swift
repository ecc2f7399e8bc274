// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinuxSupport
import ReaderEmulation
import TagLink
import TestThreads
import Testing
import VirtualTags

/// A PN532 on a pseudo-terminal, with the link by which libnfc and nfcpy find it.
@Suite(.timeLimit(.minutes(2))) struct PN532ServerTests {
    /// A folder for links, which is removed with them.
    private final class Place {
        let folder: PrivateFolder
        let link: String

        init() throws {
            folder = try .random("ocn-line")
            link = folder.path + "/line"
        }

        deinit { try? FileManager.default.removeItem(atPath: folder.path) }

        /// The target of a link; nil when there is none.
        func target(_ suffix: String = "") -> String? {
            try? FileManager.default.destinationOfSymbolicLink(atPath: link + suffix)
        }
    }

    /// A server that runs.
    private final class Line {
        let server: PN532Server
        let work: Task<Void, Never>

        init(_ path: String, field: VirtualField = VirtualField(), place: (any CardSlot)? = nil) throws {
            server = try PN532Server(path: path, field: field, place: place)
            work = server.start()
        }

        func end() async {
            server.stop()
            await work.value
        }
    }

    /// A host's end of a line.
    private struct Host: Sendable {
        let line: Int32

        init(_ path: String) { line = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC) }

        func send(_ bytes: [UInt8]) -> Bool { unsafe write(line, bytes, bytes.count) == bytes.count }

        /// Whether these bytes arrive.
        func receives(_ bytes: [UInt8]) async -> Bool {
            let connection = RawConnection(descriptor: line)
            return await callDriver { connection.receive(bytes.count, within: 30_000) } == bytes
        }

        func hangsUp(within milliseconds: Int32) async -> Bool {
            await callDriver {
                var line = pollfd(fd: line, events: Int16(POLLIN), revents: 0)
                return unsafe poll(&line, 1, milliseconds) > 0 && line.revents & Int16(POLLHUP) != 0
            }
        }
    }

    private static func isRefused(_ link: String) -> Bool {
        (try? PN532Server(path: link, field: VirtualField())) == nil
    }

    private static func acknowledged(_ answer: [UInt8]) -> [UInt8] { PN53xFrame.acknowledgeBytes + answer }

    @Test func `line: one host after the other is answered; ending the server hangs up and removes the symbolic link`()
        async throws
    {
        let place = try Place()
        for _ in 0..<2 {
            let line = try Line(place.link)
            #expect(place.target() == line.server.terminalName)
            let version = PN532LineTests.answer(0x02, [0x32, 0x01, 0x06, 0x07])
            for _ in 0..<2 {
                let host = Host(place.link)
                #expect(host.send([0x55, 0x55, 0, 0, 0] + PN532LineTests.hostFrame("02")))
                #expect(await host.receives(Self.acknowledged(version)))
                close(host.line)
            }
            let host = Host(place.link)
            defer { close(host.line) }
            #expect(await !host.hangsUp(within: 0))
            await line.end()
            #expect(await host.hangsUp(within: 30_000))
            #expect(place.target() == nil)
        }
    }

    @Test func `host that waits: answered when a tag arrives, or when a reader activates the chip as a card`()
        async throws
    {
        let (place, field, other) = (try Place(), VirtualField(), PN53xCardModeTests.OtherField())
        let line = try Line(place.link, field: field, place: other)
        let host = Host(place.link)
        defer { close(host.line) }
        #expect(host.send(PN532LineTests.hostFrame("4A 01 00")))
        #expect(await host.receives(PN53xFrame.acknowledgeBytes))
        field.bring(SampleTag.ntag())
        #expect(await host.receives(PN532LineTests.answer(0x4A, [1, 1, 0x00, 0x44, 0x00, 7] + SampleTag.ntagUID)))
        let initiate = PN532LineTests.hostFrame(PN53xCardModeTests.initiate())
        #expect(host.send(PN532LineTests.hostFrame("12 34") + initiate))
        #expect(
            await host.receives(
                Self.acknowledged(PN532LineTests.answer(0x12, [])) + PN53xFrame.acknowledgeBytes
            )
        )
        try await waitWhile(other.card == nil)
        try #require(other.card).activated()
        #expect(await host.receives(PN532LineTests.answer(0x8C, [0x08, 0xE0, 0x80])))
        #expect(other.calls.withLock { $0 } == ["bring"])
        await line.end()
        #expect(other.calls.withLock { $0 } == ["bring", "remove"])
    }

    @Test func `link to a terminal that no longer exists: replaced`() async throws {
        let place = try Place()
        #expect(unsafe symlink("/dev/pts/999999999", place.link) == 0)
        let line = try Line(place.link)
        #expect(place.target() == line.server.terminalName)
        await line.end()
    }

    @Test func `link of a running emulation, other links and files: not replaced`() async throws {
        let place = try Place()
        let line = try Line(place.link)
        for link in [place.link, place.folder.path + "//line"] { #expect(Self.isRefused(link), "\(link)") }
        #expect(place.target() == line.server.terminalName)
        for target in ["/dev/null", "/dev/pts/", "/dev/pts/1x", "/dev/pts/../null", "line", "line/dev/pts/1"] {
            #expect(unsafe symlink(target, place.link + "-2") == 0)
            #expect(Self.isRefused(place.link + "-2"), "\(target)")
            #expect(place.target("-2") == target)
            #expect(unsafe unlink(place.link + "-2") == 0)
        }
        try place.folder.write("line-2", [1])
        #expect(Self.isRefused(place.link + "-2") && Self.isRefused(place.folder.path + "/none/line"))
        // Another program's link in its place stays when the server stops.
        #expect(unsafe unlink(place.link) == 0 && symlink("/dev/null", place.link) == 0)
        await line.end()
        #expect(place.target() == "/dev/null")
    }

    @Test func `nfcpy's device path: kind and number of a usual line, otherwise the name, nil outside /dev`() {
        let rows: [(String, String?)] = [
            ("/dev/ttyUSB0", "USB0"), ("/dev/ttyACM12", "ACM12"), ("/dev/ttyAMA1", "AMA1"), ("/dev/ttyS3", "S3"),
            ("/dev/ttyS", "ttyS"), ("/dev/ttyUSB0a", "ttyUSB0a"), ("/dev/ocn-1", "ocn-1"), ("/dev/O1", "O1"),
            ("/dev/", nil), ("/dev/a_b", nil), ("/dev/../tmp/line", nil), ("/dev/caf\u{E9}", nil), ("ttyUSB0", nil),
            // nfcpy takes these for the names of other lines.
            ("/dev/S", nil), ("/dev/USB0", nil), ("/dev/S1", nil), ("/dev/usbserial", nil), ("/dev/usbserial-1", nil),
        ]
        for (line, name) in rows {
            #expect(NfcpyPath(line: line)?.text == name.map { "tty:\($0):pn532" }, "\(line)")
        }
    }
}
