// SPDX-License-Identifier: Apache-2.0
import Glibc
import PrivateStorage
import Testing

/// A listener at a reader's socket that sends the test's bytes to the driver.
final class RawReader: Sendable {
    let folder: PrivateFolder
    private let listener: Int32

    init(in folder: PrivateFolder? = nil) throws {
        self.folder = try folder ?? .random("ocn-raw")
        listener = try PrivateSocket.listen("reader.sock", in: self.folder)
    }

    deinit {
        close(listener)
        try? folder.remove("reader.sock")
        folder.removeIfEmpty()
    }

    /// The reader, as pcscd's configuration names it.
    var deviceName: [CChar] { Array("/dev/null:\(folder.path)/reader.sock".utf8CString) }

    /// Waits for the driver.
    ///
    /// - Returns: the connection; nil when none came in time.
    func accept(within milliseconds: Int32 = 5000) async -> RawConnection? {
        await callDriver { [listener] in
            var waiting = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&waiting, 1, milliseconds) > 0 else { return nil }
            return PrivateSocket.accept(listener).map(RawConnection.init)
        }
    }
}

extension RawReader {
    /// Waits for the driver and greets it. On a busy machine the driver may have given up the greeting; it comes again.
    ///
    /// - Returns: the connection; nil when the driver never takes the greeting.
    func meet() async -> RawConnection? {
        for _ in 0..<20 {
            guard let connection = await accept() else { return nil }
            if await callDriver({ connection.greet() }) { return connection }
            connection.end()
        }
        return nil
    }
}

/// A connection whose bytes a test chooses.
struct RawConnection: Sendable {
    let descriptor: Int32

    static func header(_ kind: Character, _ sequence: UInt8 = 0, _ length: UInt8 = 0) -> [UInt8] {
        [kind.asciiValue ?? 0, sequence, 0, 0, 0, length]
    }

    /// Connects to a reader as a driver, and greets. Another one that still has the place, or a busy machine, is waited
    /// for.
    static func meet(_ folder: PrivateFolder) async throws -> RawConnection {
        for _ in 0..<1000 {
            // There is no room at the socket while those that were turned away wait there.
            if let driver = PrivateSocket.connect(folder.path + "/reader.sock").map(RawConnection.init) {
                if await callDriver({ driver.greet() }) { return driver }
                driver.end()
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        return try #require(nil, "The reader takes no driver.")
    }

    /// Sends the reader's greeting, and reads the driver's.
    func greet() -> Bool {
        send(Self.header("H", 0, 1) + [2]) && receive(7) == Self.header("H", 0, 1) + [2]
    }

    func send(_ bytes: [UInt8]) -> Bool {
        unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) == bytes.count
        }
    }

    /// Reads so many bytes, fewer at the end of the connection.
    func receive(_ count: Int, within milliseconds: Int32 = 5000) -> [UInt8] {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        var readable = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while bytes.count < count, unsafe poll(&readable, 1, milliseconds) > 0, unsafe read(descriptor, &byte, 1) == 1 {
            bytes.append(byte)
        }
        return bytes
    }

    /// Whether the other side has ended the connection, and sent nothing before.
    func endsInSilence(within milliseconds: Int32) -> Bool {
        var readable = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        var byte: UInt8 = 0
        guard unsafe poll(&readable, 1, milliseconds) > 0 else { return false }
        return unsafe read(descriptor, &byte, 1) == 0
    }

    func end() { close(descriptor) }
}
