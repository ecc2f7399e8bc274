// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import PeerSupport

/// The real pcscd with a test's own readers and socket. It can be killed and started again.
public final class PCSCDaemon {
    /// The environment variables that programs need.
    public let environment: [String: String]
    private let folder: URL
    let socketPath: String
    private var program: SpawnedProgram?

    /// Starts pcscd.
    ///
    /// - Parameter configurations: the configuration of each reader.
    public init(_ configurations: [String]) throws {
        // The path of a UNIX socket must be short.
        folder = URL(fileURLWithPath: "/tmp/ocd-\(UUID().uuidString.prefix(8))")
        let lines = folder.appending(path: "reader.conf.d")
        try FileManager.default.createDirectory(at: lines, withIntermediateDirectories: true)
        for (index, text) in configurations.enumerated() {
            try Data(text.utf8).write(to: lines.appending(path: "reader\(index)"))
        }
        socketPath = folder.appending(path: "pcscd.comm").path
        environment = ["PCSCLITE_CSOCK_NAME": socketPath, "NFC_READER": "pcsc", "NFC_SHEET": "none"]
        try start()
    }

    deinit {
        program?.send(signal: SIGKILL)
        try? FileManager.default.removeItem(at: folder)
    }

    /// Starts pcscd after ``stop()`` or ``kill()``.
    public func start() throws {
        // pcscd accepts a socket that already listens, by systemd's protocol.
        let socket = try SocketAtPath.listen(socketPath)
        defer { close(socket) }
        let log = try FileHandle(forWritingTo: Self.made(folder.appending(path: "log")))
        let script = "export LISTEN_FDS=1 LISTEN_PID=$$; exec \"$0\" --foreground --info --config \"$1\""
        guard let pcscd = Program("pcscd") else { throw PeerError("pcscd is not installed.") }
        program = try SpawnedProgram(
            "/bin/sh",
            ["-c", script, pcscd.path, folder.appending(path: "reader.conf.d").path],
            descriptors: [1: log.fileDescriptor, 2: log.fileDescriptor, 3: socket]
        )
    }

    /// Kills pcscd, so that it can't clean up.
    public func kill() async throws {
        try await end(SIGKILL)
    }

    /// Ends pcscd normally.
    public func stop() async throws {
        try await end(SIGTERM)
    }

    private func end(_ signal: Int32) async throws {
        program?.send(signal: signal)
        guard await program?.end(within: .seconds(10)) != nil else {
            program?.send(signal: SIGKILL)
            throw PeerError("pcscd did not end.")
        }
        program = nil
        try? FileManager.default.removeItem(atPath: socketPath)
    }

    /// Its process identifier.
    public var identifier: Int32 { program?.identifier ?? 0 }

    private static func made(_ file: URL) throws -> URL {
        if !FileManager.default.fileExists(atPath: file.path) { try Data().write(to: file) }
        return file
    }
}

/// UNIX sockets at paths.
enum SocketAtPath {
    /// Creates a socket that listens at a path, and replaces an existing file.
    static func listen(_ path: String) throws(PeerError) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < 108 else { throw PeerError("\(path) is too long.") }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        _ = unsafe unlink(path)
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0, Glibc.listen(descriptor, 16) == 0 else {
            close(descriptor)
            throw PeerError("A socket can't be created at \(path): error \(errno).")
        }
        return descriptor
    }
}
