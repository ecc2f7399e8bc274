// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TagLink
import TestThreads
import Testing

@testable import PCSCDriver

/// Checks what goes into libpcsclite's calls, and what is made of what they write.
@Suite("A call to libpcsclite", .serialized)
struct LibraryCallTests {
    private static let cards = SystemSmartCards { _ in .scripted }
    private static let card = SmartCardHandle(handle: 77, activeProtocol: 2, answerToReset: [])

    /// Runs a body with a library that answers so, and returns what its calls were given.
    private static func with(_ library: Library, _ body: () throws -> Void) throws -> [String] {
        Library.current.withLock { $0 = library }
        try body()
        return Library.current.withLock { $0.calls }
    }

    private static func code(_ body: () throws(SmartCardError) -> Void) -> SmartCardError.Code? {
        do throws(SmartCardError) {
            try body()
            return nil
        } catch {
            return error.code
        }
    }

    @Test("lists readers in the length that the library says")
    func list() throws {
        let names: [UInt8] = Array("One\0Two 00\0\0".utf8)
        let calls = try Self.with(Library(list: names)) {
            let found = try Self.cards.listReaders(5)
            #expect(found == ["One", "Two 00"])
        }
        #expect(calls == ["list 5", "list 5 of \(names.count)"])
        // The second call may write less than the first one promised.
        _ = try Self.with(Library(list: Array("One\0\0".utf8), promises: [names.count])) {
            let found = try Self.cards.listReaders(5)
            #expect(found == ["One"])
        }
    }

    @Test("lists readers again when there are more meanwhile, four times in all")
    func longerList() throws {
        let list = Array("R\0R\0\0".utf8)
        let calls = try Self.with(Library(list: list, promises: [3, 4, list.count])) {
            let found = try Self.cards.listReaders(5)
            #expect(found == ["R", "R"])
        }
        #expect(calls.count == 6)
        Library.current.withLock { $0 = Library(list: list, promises: [3, 3, 3, 3, list.count]) }
        #expect(Self.code { () throws(SmartCardError) in _ = try Self.cards.listReaders(5) } == .insufficientBuffer)
        #expect(Library.current.withLock { $0.calls.count } == 8)
    }

    @Test("lists none where the library says so, at either call, and passes on another error")
    func noReaders() throws {
        for statuses in [[Library.noReaders], [0, Library.noReaders]] as [[Int]] {
            _ = try Self.with(Library(list: Array("One\0\0".utf8), statuses: statuses)) {
                let found = try Self.cards.listReaders(5)
                #expect(found == [])
            }
        }
        for statuses in [[Library.noService], [0, Library.noService]] as [[Int]] {
            Library.current.withLock { $0 = Library(list: Array("One\0\0".utf8), statuses: statuses) }
            #expect(Self.code { () throws(SmartCardError) in _ = try Self.cards.listReaders(5) } == .noService)
        }
    }

    @Test("waits for as long as it is told, and a time that is up is no error")
    func changes() throws {
        for (limit, said) in [(UInt32(250), "250"), (nil, "4294967295")] as [(UInt32?, String)] {
            let calls = try Self.with(Library()) {
                let states = [SmartCardReaderState("A"), SmartCardReaderState("B")]
                let found = try Self.cards.waitForChange(5, milliseconds: limit, of: states)?.map(\.reader)
                #expect(found == ["A", "B"])
            }
            #expect(calls == ["change 5 \(said) of 2"])
        }
        _ = try Self.with(Library(statuses: [0x8010_000A])) {
            let found = try Self.cards.waitForChange(5, milliseconds: 1, of: [])
            #expect(found == nil)
        }
        Library.current.withLock { $0 = Library(statuses: [Library.noService]) }
        let code = Self.code { () throws(SmartCardError) in
            _ = try Self.cards.waitForChange(5, milliseconds: 1, of: [])
        }
        #expect(code == .noService)
    }

    @Test("opens and resets a card with its ATR, and a reader alone without one")
    func opens() throws {
        let calls = try Self.with(Library(answer: [0x3B, 0x80, 0x80, 0x01])) {
            let card = try Self.cards.connect(5, reader: "One", .shared)
            #expect(card.handle == 77 && card.activeProtocol == 2 && card.answerToReset == [0x3B, 0x80, 0x80, 0x01])
            let reader = try Self.cards.connect(5, reader: "One", .direct)
            #expect(reader.handle == 77 && reader.answerToReset.isEmpty)
            let again = try Self.cards.reset(card, .exclusive)
            #expect(again.handle == 77 && again.activeProtocol == 1)
            #expect(again.answerToReset == [0x3B, 0x80, 0x80, 0x01])
            Self.cards.disconnect(card, .unpower)
            Self.cards.releaseContext(5)
        }
        #expect(
            calls == [
                "connect 5 One \(SmartCardShare.shared.rawValue) 3", "status 77 33",
                "connect 5 One \(SmartCardShare.direct.rawValue) 0",
                "reconnect 77 \(SmartCardShare.exclusive.rawValue) 3 1", "status 77 33",
                "disconnect 77 \(SmartCardDisposition.unpower.rawValue)", "release 5",
            ]
        )
        // A card whose ATR can't be read is open.
        _ = try Self.with(Library(answer: [0x3B, 0x00], statuses: [0, Library.noService])) {
            let found = try Self.cards.connect(5, reader: "One", .shared).answerToReset
            #expect(found == [])
        }
        Library.current.withLock { $0 = Library(statuses: [Library.noService, Library.noService]) }
        let connect = Self.code { () throws(SmartCardError) in
            _ = try Self.cards.connect(5, reader: "One", .shared)
        }
        let reset = Self.code { () throws(SmartCardError) in _ = try Self.cards.reset(Self.card, .shared) }
        #expect(connect == .noService && reset == .noService)
    }

    @Test("sends what it is given, and returns as much as was written")
    func sends() throws {
        let calls = try Self.with(Library(answer: [1, 2, 3])) {
            let response = try Self.cards.transmit(Self.card, [9, 8])
            #expect(response == [1, 2, 3])
            let attribute = try Self.cards.attribute(Self.card, 0x9_0303)
            #expect(attribute == [1, 2, 3])
            let control = try Self.cards.control(Self.card, code: 0x4200_0001, [7])
            #expect(control == [1, 2, 3])
        }
        #expect(
            calls == ["transmit 77 [2, 16] [9, 8] 65548", "attribute 77 590595 264", "control 77 1107296257 [7] 1024"]
        )
        // The longest answer of an extended APDU.
        let long = (0..<65_538).map { UInt8(truncatingIfNeeded: $0) }
        _ = try Self.with(Library(answer: long)) {
            let found = try Self.cards.transmit(Self.card, [])
            #expect(found == long)
        }
        _ = try Self.with(Library(answer: [])) {
            let found = try Self.cards.transmit(Self.card, [1])
            #expect(found == [])
        }
        Library.current.withLock { $0 = Library(answer: [1], statuses: [Library.noService, 0]) }
        #expect(Self.code { () throws(SmartCardError) in _ = try Self.cards.transmit(Self.card, [1]) } == .noService)
        _ = try Self.cards.transmit(Self.card, [1])
    }

    @Test("has the memory for its answer from the call before")
    func reuse() throws {
        _ = try Self.with(Library(answer: [0x90, 0x00])) {
            for _ in 0..<3 { _ = try Self.cards.transmit(Self.card, [1]) }
        }
        let places = Library.current.withLock { $0.places }
        #expect(places.count == 3 && Set(places).count == 1)
    }

    @Test("that connects says when the user may not use the socket of the service", .ownThreads)
    func forbidden() async throws {
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
                Library.current.withLock { $0 = Library(statuses: [status]) }
                let found = LibraryCallTests.code { () throws(SmartCardError) in
                    _ = try LibraryCallTests.cards.establishContext(WaitCut())
                }
                #expect(found == code, "\(name)")
                // SCARD_SCOPE_SYSTEM
                #expect(Library.current.withLock { $0.calls } == ["establish 2"])
            }
        }
    }

    @Test("gives back the memory that it took", .ownThreads)
    func memory() async {
        await #expect(processExitsWith: .success) {
            func pages() throws -> Int {
                let sizes = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
                return try #require(Int(sizes[5]))
            }
            let states = (0..<500).map { SmartCardReaderState("Reader \($0)") }
            func use() {
                for _ in 0..<1000 { _ = (ResponseBuffer(), ReaderStateTable(states)) }
                for _ in 0..<1_000_000 { _ = Monitor(0) }
            }
            use()
            let before = try pages()
            use()
            // What stays of a thousand buffers of 64 KiB would be 16000 pages, and of a million locks 12000. The stack of a
            // thread that begins meanwhile has 2000.
            #expect(try pages() < before + 8000)
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
    /// Where it wrote the answers of cards.
    var places: [UInt] = []

    mutating func end(_ call: String) -> Int {
        calls.append(call)
        return statuses.isEmpty ? 0 : statuses.removeFirst()
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
    /// A library that answers as it is told.
    fileprivate static var scripted: PCSCLite {
        unsafe PCSCLite(
            establish: { scope, _, _, _ in Library.current.withLock { $0.end("establish \(scope)") } },
            release: { context in Library.current.withLock { $0.end("release \(context)") } },
            cancel: { _ in 0 },
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
                Library.current.withLock { $0.end("change \(context) \(milliseconds) of \(count)") }
            },
            connect: { context, reader, share, protocols, handle, active in
                unsafe handle.pointee = 77
                unsafe active.pointee = 2
                let name = unsafe String(cString: reader)
                return Library.current.withLock { $0.end("connect \(context) \(name) \(share) \(protocols)") }
            },
            reconnect: { handle, share, protocols, start, active in
                unsafe active.pointee = 1
                return Library.current.withLock { $0.end("reconnect \(handle) \(share) \(protocols) \(start)") }
            },
            disconnect: { handle, disposition in
                Library.current.withLock { $0.end("disconnect \(handle) \(disposition)") }
            },
            status: { handle, _, _, _, _, memory, count in
                let room = unsafe count?.pointee ?? 0
                let status = Library.current.withLock { $0.end("status \(handle) \(room)") }
                unsafe Library.write(memory, count)
                return status
            },
            transmit: { handle, header, command, length, _, memory, count in
                let words = unsafe [header[0], header[1]]
                let (bytes, room) = unsafe (Library.bytes(command, length), count.pointee)
                let place = UInt(bitPattern: memory)
                unsafe Library.write(memory, count)
                return Library.current.withLock { library in
                    library.places.append(place)
                    return library.end("transmit \(handle) \(words) \(bytes) \(room)")
                }
            },
            control: { handle, code, data, length, memory, room, count in
                let bytes = unsafe Library.bytes(data?.assumingMemoryBound(to: UInt8.self), length)
                unsafe Library.write(memory?.assumingMemoryBound(to: UInt8.self), count)
                return Library.current.withLock { $0.end("control \(handle) \(code) \(bytes) \(room)") }
            },
            attribute: { handle, identifier, memory, count in
                let room = unsafe count.pointee
                unsafe Library.write(memory, count)
                return Library.current.withLock { $0.end("attribute \(handle) \(identifier) \(room)") }
            }
        )
    }
}
