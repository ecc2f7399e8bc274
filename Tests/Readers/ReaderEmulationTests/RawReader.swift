// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinuxSupport
import Testing

/// Calls the driver on a thread of the call's own: it blocks until the answer, and the tests and the global queues have
/// few threads.
func callDriver<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: body()) }
    }
}

/// A listener at a reader's socket that sends the test's bytes to the driver.
final class RawReader: Sendable {
    let folder: PrivateFolder
    private let listener: Int32

    init() throws {
        folder = try .random("ocn-raw")
        listener = try PrivateSocket.listen("reader.sock", in: folder)
    }

    deinit {
        close(listener)
        try? folder.remove("reader.sock")
        folder.removeIfEmpty()
    }

    /// Waits for the driver; nil when it did not connect in time.
    func accept(within milliseconds: Int32 = 5000) async -> RawConnection? {
        await callDriver { [listener] in
            var waiting = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&waiting, 1, milliseconds) > 0 else { return nil }
            return PrivateSocket.accept(listener).map(RawConnection.init)
        }
    }

    /// Waits for the driver and greets it. On a busy machine the driver may have given up; it connects again.
    func meet() async throws -> RawConnection {
        for _ in 0..<20 {
            guard let connection = await accept() else { break }
            if await callDriver({ connection.greet() }) { return connection }
            connection.end()
        }
        return try #require(nil, "The driver never takes the greeting.")
    }
}

/// A connection whose bytes a test chooses.
struct RawConnection: Sendable {
    let descriptor: Int32

    /// A message's kind, sequence number and length of its data.
    static func header(_ kind: Character, _ sequence: UInt8 = 0, _ length: UInt8 = 0) -> [UInt8] {
        [kind.asciiValue ?? 0, sequence, 0, 0, 0, length]
    }

    /// The greeting of version 2.
    static let greeting = header("H", 0, 1) + [2]

    /// Connects to a reader as a driver.
    static func connect(_ folder: PrivateFolder) throws -> RawConnection {
        RawConnection(descriptor: try #require(PrivateSocket.connect(folder.path + "/reader.sock")))
    }

    /// Connects to a reader as a driver and greets, as soon as no other driver has the place.
    static func meet(_ folder: PrivateFolder) async throws -> RawConnection {
        for _ in 0..<1000 {
            if let driver = PrivateSocket.connect(folder.path + "/reader.sock").map(RawConnection.init) {
                if await callDriver({ driver.greet() }) { return driver }
                driver.end()
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        return try #require(nil, "The reader takes no driver.")
    }

    /// Sends the greeting and reads the other side's.
    func greet() -> Bool { send(Self.greeting) && receive(7) == Self.greeting }

    func send(_ bytes: [UInt8]) -> Bool {
        unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) == bytes.count
        }
    }

    /// Reads so many bytes, fewer at the end of the connection.
    func receive(_ count: Int, within milliseconds: Int32 = 5000) -> [UInt8] {
        var (bytes, byte) = ([UInt8](), UInt8(0))
        var readable = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while bytes.count < count, unsafe poll(&readable, 1, milliseconds) > 0, unsafe read(descriptor, &byte, 1) == 1 {
            bytes.append(byte)
        }
        return bytes
    }

    /// Whether the other side ends the connection, and sends nothing before.
    func endsInSilence(within milliseconds: Int32 = 30_000) -> Bool {
        var readable = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        var byte: UInt8 = 0
        guard unsafe poll(&readable, 1, milliseconds) > 0 else { return false }
        return unsafe read(descriptor, &byte, 1) == 0
    }

    func end() { close(descriptor) }
}
