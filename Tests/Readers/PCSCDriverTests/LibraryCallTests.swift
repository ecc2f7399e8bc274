// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TagLink
import TestThreads
import Testing

@testable import PCSCDriver  // the library's functions are internal

/// What goes into libpcsclite's calls, what is made of what they write, and in which order calls are made.
@Suite(.serialized, .timeLimit(.minutes(2))) struct LibraryCallTests {
    private static let cards = SystemSmartCards { _ in .scripted }
    private static let card = SmartCardHandle(handle: 77, activeProtocol: 2, answerToReset: [])

    /// Runs a body with a library that answers so.
    ///
    /// - Returns: the error's code, and the calls that the library got.
    @discardableResult
    private static func with(
        _ library: Library,
        _ body: () throws(SmartCardError) -> Void
    ) -> (code: SmartCardError.Code?, calls: [String]) {
        Library.current.withLock { $0 = library }
        do throws(SmartCardError) {
            try body()
            return (nil, Library.current.withLock { $0.calls })
        } catch { return (error.code, Library.current.withLock { $0.calls }) }
    }

    @Test func `SCardListReaders: asked for again up to four times while the list grows; no reader is an empty list`() {
        let (one, two) = (Array("One\0\0".utf8), Array("R\0R\0\0".utf8))
        let rows: [(Library, [String]?, SmartCardError.Code?, Int)] = [
            (Library(list: Array("One\0Two 00\0\0".utf8)), ["One", "Two 00"], nil, 2),
            // The second call may write less than the first one promised.
            (Library(list: one, promises: [12]), ["One"], nil, 2),
            (Library(list: two, promises: [3, 4, 5]), ["R", "R"], nil, 6),
            (Library(list: two, promises: [3, 3, 3, 3, 5]), nil, .insufficientBuffer, 8),
            (Library(list: one, statuses: [Library.noReaders]), [], nil, 1),
            (Library(list: one, statuses: [0, Library.noReaders]), [], nil, 2),
            (Library(list: one, statuses: [Library.noService]), nil, .noService, 1),
            (Library(list: one, statuses: [0, Library.noService]), nil, .noService, 2),
        ]
        for (index, row) in rows.enumerated() {
            var names: [String]?
            let found = Self.with(row.0) { () throws(SmartCardError) in names = try Self.cards.listReaders(5) }
            #expect(names == row.1 && found.code == row.2 && found.calls.count == row.3, "\(index): \(found)")
        }
    }

    @Test
    func
        `connecting, resetting, disconnecting, waiting: pcsc-lite gets the arguments; the ATR or the error is returned`()
    {
        let atr: [UInt8] = [0x3B, 0x80, 0x80, 0x01]
        let found = Self.with(Library(answer: atr)) { () throws(SmartCardError) in
            let card = try Self.cards.connect(5, reader: "One", .shared)
            #expect(card.handle == 77 && card.activeProtocol == 2 && card.answerToReset == atr)
            let reader = try Self.cards.connect(5, reader: "One", .direct)
            #expect(reader.handle == 77 && reader.answerToReset.isEmpty)
            let again = try Self.cards.reset(card, .exclusive, .reset)
            #expect(again.handle == 77 && again.activeProtocol == 1 && again.answerToReset == atr)
            Self.cards.disconnect(card, .unpower)
            _ = try Self.cards.waitForChange(5, milliseconds: 250, of: [SmartCardReaderState("A")])
            _ = try Self.cards.waitForChange(5, milliseconds: nil, of: [])
            Self.cards.releaseContext(5)
        }
        // SCARD_SHARE_EXCLUSIVE 1, SHARED 2, DIRECT 3; SCARD_RESET_CARD 1, UNPOWER_CARD 2; T=0 and T=1 are 3.
        #expect(
            found.calls == [
                "connect 5 One 2 3", "status 77 33", "connect 5 One 3 0", "reconnect 77 1 3 1", "status 77 33",
                "disconnect 77 2", "change 5 250 of 1", "change 5 \(UInt32.max) of 0", "release 5",
            ]
        )
        Self.with(Library(statuses: [0x8010_000A])) { () throws(SmartCardError) in
            #expect(try Self.cards.waitForChange(5, milliseconds: 1, of: []) == nil, "a timeout")
        }
        // A card whose ATR can't be read is open.
        Self.with(Library(answer: [0x3B, 0x00], statuses: [0, Library.noService])) { () throws(SmartCardError) in
            let card = try Self.cards.connect(5, reader: "One", .shared)
            #expect(card.answerToReset == [])
        }
        let failing = Library(statuses: [Library.noService])
        let connect = Self.with(failing) { () throws(SmartCardError) in
            _ = try Self.cards.connect(5, reader: "One", .shared)
        }
        let reset = Self.with(failing) { () throws(SmartCardError) in
            _ = try Self.cards.reset(Self.card, .shared, .reset)
        }
        #expect(connect.code == .noService && reset.code == .noService)
    }

    @Test func `SCardTransmit, SCardGetAttrib, SCardControl: get bytes and buffer sizes; the whole answer is returned`()
    {
        // The longest answer of an extended APDU is 65538 bytes.
        for answer in [[1, 2, 3], [], (0..<65_538).map { UInt8(truncatingIfNeeded: $0) }] as [[UInt8]] {
            let found = Self.with(Library(answer: answer)) { () throws(SmartCardError) in
                let response = try Self.cards.transmit(Self.card, [9, 8])
                #expect(response == answer)
                if answer.count > 264 { return }
                let attribute = try Self.cards.attribute(Self.card, 0x9_0303)
                let control = try Self.cards.control(Self.card, code: 0x4200_0001, [7])
                #expect(attribute == answer && control == answer)
            }
            let calls = [
                "transmit 77 [2, 16] [9, 8] 65548", "attribute 77 590595 264", "control 77 1107296257 [7] 1024",
            ]
            #expect(found.calls == Array(calls.prefix(answer.count > 264 ? 1 : 3)))
        }
        let failed = Self.with(Library(answer: [1], statuses: [Library.noService])) { () throws(SmartCardError) in
            _ = try Self.cards.transmit(Self.card, [1])
        }
        #expect(failed.code == .noService)
    }

    @Test func `a table of readers: laid out as SCARD_READERSTATE of pcsc-lite`() {
        let states = [
            SmartCardReaderState("A", flags: [.present, .changed]), SmartCardReaderState("B", answerToReset: [1, 2]),
        ]
        // Five words and 33 bytes of ATR, filled up to whole words.
        let (word, stride) = (MemoryLayout<UInt>.size, 5 * MemoryLayout<UInt>.size + 40)
        let table = ReaderStateTable(states)
        unsafe table.withPointer { memory in
            let present = UInt(SmartCardReaderState.Flags.present.rawValue)
            #expect(unsafe memory.load(fromByteOffset: 2 * word, as: UInt.self) == present)
            #expect(unsafe memory.load(fromByteOffset: stride + 2 * word, as: UInt.self) == 0)
            let name = unsafe memory.load(fromByteOffset: stride, as: UnsafePointer<CChar>.self)
            #expect(unsafe String(cString: name) == "B")
            unsafe memory.storeBytes(of: 0x0001_0022, toByteOffset: stride + 3 * word, as: UInt.self)
            unsafe memory.storeBytes(of: 2, toByteOffset: stride + 4 * word, as: UInt.self)
            unsafe memory.storeBytes(of: 0x803B, toByteOffset: stride + 5 * word, as: UInt16.self)
            unsafe memory.storeBytes(of: 99, toByteOffset: 4 * word, as: UInt.self)
        }
        let read = table.states
        #expect(read.map(\.reader) == ["A", "B"])
        #expect(read[1].flags.rawValue == 0x0001_0022 && read[1].answerToReset == [0x3B, 0x80])
        // More bytes than an ATR has are not taken.
        #expect(read[0].answerToReset.count == 33)
        // A response has room for 65548 bytes, and a library that lies is not believed.
        let buffer = ResponseBuffer()
        for (length, status, count) in [(3, 0, 3), (3, 7, 0), (1_000_000, 0, 65_548)] {
            let found = unsafe buffer.fill { _, room in
                #expect(unsafe room.pointee == 65_548)
                unsafe room.pointee = UInt(length)
                return status
            }
            #expect(found.status == status && found.response.count == count)
        }
    }

    @Test(.ownThreads) func `a socket that the user may not use: socketForbidden`() async throws {
        let folder = "/tmp/nfc-tests-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for (name, mode) in [("/open", 0o666), ("/closed", 0)] as [(String, mode_t)] {
            #expect(FileManager.default.createFile(atPath: folder + name, contents: nil))
            #expect(unsafe chmod(folder + name, mode) == 0)
        }
        #expect(unsafe chmod(folder, 0o755) == 0)
        await #expect(processExitsWith: .success) { [folder = folder as String] in
            // Root may use every file. In some containers there is no other user.
            if geteuid() == 0, setuid(65_534) != 0 { return }
            for (name, status, code) in [
                ("/closed", Library.noService, .socketForbidden), ("/open", Library.noService, .noService),
                ("/none", Library.noService, .noService), ("/closed", 0, nil),
            ] as [(String, Int, SmartCardError.Code?)] {
                _ = unsafe setenv("PCSCLITE_CSOCK_NAME", folder + name, 1)
                let found = LibraryCallTests.with(Library(statuses: [status])) { () throws(SmartCardError) in
                    _ = try LibraryCallTests.cards.establishContext(CancellationSignal())
                }
                // SCARD_SCOPE_SYSTEM
                #expect(found == (code, ["establish 2"]), "\(name)")
            }
        }
    }

    // MARK: Several threads, and the end of the process

    /// A socket of a service that hangs up on a probe, and waits for the end of the library's connection.
    private static func service() throws -> Socket {
        let socket = try Socket()
        let service = Thread {
            close(socket.accept())
            let peer = socket.accept()
            var byte: UInt8 = 0
            _ = unsafe read(peer, &byte, 1)
            close(peer)
        }
        service.start()
        return socket
    }

    @Test(.ownThreads)
    func `abandoned call: ended by closing its context's connection, or by SCardCancel if that is not known`()
        async throws
    {
        let socket = try Self.service()
        await #expect(processExitsWith: .success) { [path = socket.path as String] in
            _ = unsafe setenv("PCSCLITE_CSOCK_NAME", path, 1)
            Library.current.withLock { $0.isConnecting = true }
            let context = try Self.cards.establishContext(CancellationSignal())
            let own = Library.current.withLock { $0.socket }
            #expect(context == 5 && own >= 0)
            let copies = ServiceSocket.connections().subtracting([own])
            let copy = try #require(copies.first)
            #expect(copies.count == 1 && fcntl(copy, F_GETFD) & FD_CLOEXEC != 0)
            var byte: UInt8 = 0
            #expect(unsafe recv(own, &byte, 1, Int32(MSG_DONTWAIT)) == -1)
            Self.cards.abandon(context)
            #expect(unsafe recv(own, &byte, 1, Int32(MSG_DONTWAIT)) == 0)
            Self.cards.releaseContext(context)
            #expect(fcntl(copy, F_GETFD) == -1 && fcntl(own, F_GETFD) != -1)
            // Another context's connection is not known.
            Self.cards.abandon(9)
            try await waitWhile(Library.current.withLock { !$0.calls.contains("cancel 9") })
            #expect(Library.current.withLock { $0.calls } == ["establish 2", "release 5", "cancel 9"])
        }
    }

    private static let hasLibrary = unsafe dlopen("libpcsclite.so.1", RTLD_NOW) != nil

    @Test(.ownThreads, .enabled(if: hasLibrary, "libpcsclite is not installed"))
    func `end of the process: new library calls are cancelled, and a closing call is waited for`() async {
        await #expect(processExitsWith: .exitCode(42)) {
            // Handlers run in the reverse order: this one after what the library's opening has registered.
            atexit {
                PCSCLite.close { _exit(1) }
                guard Library.current.withLock({ $0.calls }) == ["closing", "closed"] else { _exit(2) }
                do throws(SmartCardError) {
                    _ = try PCSCLite.forCall("SCardListReaders")
                    _exit(3)
                } catch { _exit(error.code == .cancelled ? 42 : 4) }
            }
            _ = try PCSCLite.forCall("SCardReleaseContext")
            let thread = Thread {
                PCSCLite.close {
                    Library.current.withLock { $0.calls.append("closing") }
                    // Until the process ends, and then a moment.
                    while (try? PCSCLite.forCall("SCardReleaseContext")) != nil { usleep(100) }
                    usleep(5000)
                    Library.current.withLock { $0.calls.append("closed") }
                }
            }
            thread.start()
            while Library.current.withLock({ $0.calls.isEmpty }) { usleep(100) }
            exit(5)
        }
    }
}

/// What a library answers, and what it was asked.
private struct Library {
    static let current = Locked(Library())
    static let noReaders = 0x8010_002E
    static let noService = 0x8010_001D

    /// What SCardListReaders writes.
    var list: [UInt8] = []
    /// The lengths that it promises, one after the other; then the list's.
    var promises: [Int] = []
    /// What the other calls write.
    var answer: [UInt8] = []
    /// How the calls end, one after the other; well after the last.
    var statuses: [Int] = []
    var calls: [String] = []
    /// Whether it connects to the service's socket.
    var isConnecting = false
    var socket: Int32 = -1

    mutating func end(_ call: String) -> Int {
        calls.append(call)
        return statuses.isEmpty ? 0 : statuses.removeFirst()
    }

    static func end(_ call: String) -> Int { current.withLock { $0.end(call) } }

    static func establish(_ scope: UInt) -> Int {
        let (status, isConnecting) = current.withLock { ($0.end("establish \(scope)"), $0.isConnecting) }
        guard isConnecting else { return status }
        let descriptor = Socket.connect(ServiceSocket.path)
        current.withLock { $0.socket = descriptor }
        return 0
    }

    /// Writes the answer.
    static func write(_ memory: UnsafeMutablePointer<UInt8>?, _ count: UnsafeMutablePointer<UInt>?) {
        let answer = current.withLock { $0.answer }
        if let memory = unsafe memory { for (index, byte) in answer.enumerated() { unsafe memory[index] = byte } }
        if let count = unsafe count { unsafe count.pointee = UInt(answer.count) }
    }

    static func bytes(_ start: UnsafePointer<UInt8>?, _ count: UInt) -> [UInt8] {
        unsafe Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }
}

extension PCSCLite {
    /// A library that answers as the current one says.
    fileprivate static var scripted: PCSCLite {
        unsafe PCSCLite(
            establish: { scope, _, _, context in
                unsafe context.pointee = 5
                return Library.establish(scope)
            },
            release: { context in Library.end("release \(context)") },
            cancel: { context in Library.end("cancel \(context)") },
            list: { context, _, names, length in
                let room = unsafe length.pointee
                return Library.current.withLock { library in
                    let isFirst = unsafe names == nil
                    let status = library.end(isFirst ? "list \(context)" : "list \(context) of \(room)")
                    guard status == 0 else { return status }
                    let promise = isFirst && !library.promises.isEmpty ? library.promises.removeFirst() : nil
                    unsafe length.pointee = UInt(promise ?? library.list.count)
                    guard let names = unsafe names else { return 0 }
                    // SCARD_E_INSUFFICIENT_BUFFER
                    if library.list.count > room { return 0x8010_0008 }
                    for (index, byte) in library.list.enumerated() { unsafe names[index] = CChar(bitPattern: byte) }
                    return 0
                }
            },
            statusChange: { context, milliseconds, _, count in
                Library.end("change \(context) \(milliseconds) of \(count)")
            },
            connect: { context, reader, share, protocols, handle, active in
                unsafe handle.pointee = 77
                unsafe active.pointee = 2
                let name = unsafe String(cString: reader)
                return Library.end("connect \(context) \(name) \(share) \(protocols)")
            },
            reconnect: { handle, share, protocols, start, active in
                unsafe active.pointee = 1
                return Library.end("reconnect \(handle) \(share) \(protocols) \(start)")
            },
            disconnect: { handle, disposition in Library.end("disconnect \(handle) \(disposition)") },
            status: { handle, _, _, _, _, memory, count in
                let room = unsafe count?.pointee ?? 0
                unsafe Library.write(memory, count)
                return Library.end("status \(handle) \(room)")
            },
            transmit: { handle, header, command, length, _, memory, count in
                let words = unsafe [header[0], header[1]]
                let (bytes, room) = unsafe (Library.bytes(command, length), count.pointee)
                unsafe Library.write(memory, count)
                return Library.end("transmit \(handle) \(words) \(bytes) \(room)")
            },
            control: { handle, code, data, length, memory, room, count in
                let bytes = unsafe Library.bytes(data?.assumingMemoryBound(to: UInt8.self), length)
                unsafe Library.write(memory?.assumingMemoryBound(to: UInt8.self), count)
                return Library.end("control \(handle) \(code) \(bytes) \(room)")
            },
            attribute: { handle, identifier, memory, count in
                let room = unsafe count.pointee
                unsafe Library.write(memory, count)
                return Library.end("attribute \(handle) \(identifier) \(room)")
            }
        )
    }
}
