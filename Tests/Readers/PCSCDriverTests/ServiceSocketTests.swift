// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TagLink
import TestThreads
import Testing

@testable import PCSCDriver  // sockets and probes are internal

/// A socket in place of pcscd's. It and its folder end with this object.
final class Socket: Sendable {
    let folder: String
    private let listener: Int32

    init(queue: Int32 = 8) throws {
        let place = "/tmp/nfc-tests-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        folder = place
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let status = unsafe Self.withAddress(place + "/pcscd.comm") { [listener] in unsafe bind(listener, $0, $1) }
        try #require(status == 0 && listen(listener, queue) == 0)
    }

    deinit {
        close(listener)
        try? FileManager.default.removeItem(atPath: folder)
    }

    var path: String { folder + "/pcscd.comm" }

    /// Takes the next connection.
    func accept() -> Int32 { Glibc.accept(listener, nil, nil) }

    /// Connects to a socket, without its service.
    static func connect(_ path: String) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let status = unsafe withAddress(path) { unsafe Glibc.connect(descriptor, $0, $1) }
        return status == 0 ? descriptor : -1
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(path.utf8)) }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}

/// The socket of the service. Each test runs in a process of its own, because a variable names the socket.
@Suite(.timeLimit(.minutes(2))) struct ServiceSocketTests {
    @Test(.ownThreads) func `probe: sends nothing, waits until the service hangs up, and closes its socket`()
        async throws
    {
        let socket = try Socket()
        let service = Thread {
            let peer = socket.accept()
            var byte: UInt8 = 0
            // The probe has sent nothing, and says at once that it will not.
            guard unsafe read(peer, &byte, 1) == 0 else { return }
            while !FileManager.default.fileExists(atPath: socket.folder + "/seen") { usleep(1000) }
            close(peer)
        }
        service.start()
        await #expect(processExitsWith: .success) { [folder = socket.folder as String] in
            _ = unsafe setenv("PCSCLITE_CSOCK_NAME", folder + "/pcscd.comm", 1)
            let probes = Locked<Set<Int32>>([])
            let watch = Thread {
                // The probe waits when its descriptor is one of the probes and connected.
                while probes.withLock({ $0.isEmpty || $0 != ServiceSocket.connections() }) { usleep(1000) }
                _ = FileManager.default.createFile(atPath: folder + "/seen", contents: nil)
            }
            watch.start()
            try ServiceProbe.check(CancellationSignal(), probes)
            #expect(FileManager.default.fileExists(atPath: folder + "/seen"))
            #expect(probes.withLock { $0.isEmpty } && ServiceSocket.connections().isEmpty)
        }
    }

    @Test(.ownThreads) func `a probe without a listening socket: no failure`() async throws {
        let socket = try Socket()
        await #expect(processExitsWith: .success) { [folder = socket.folder as String] in
            #expect(FileManager.default.createFile(atPath: folder + "/file", contents: nil))
            for path in ["/nothing", "/file", "/" + String(repeating: "x", count: 200)] {
                _ = unsafe setenv("PCSCLITE_CSOCK_NAME", folder + path, 1)
                let probes = Locked<Set<Int32>>([])
                try ServiceProbe.check(CancellationSignal(), probes)
                #expect(probes.withLock { $0.isEmpty })
            }
        }
    }

    @Test(.ownThreads) func `a probe of a service that hangs or whose queue stays full: timeout`() async throws {
        let (socket, full) = (try Socket(), try Socket(queue: 0))
        await #expect(processExitsWith: .success) { [folder = socket.folder as String, full = full.folder as String] in
            // One that waits in the queue, which then has no room.
            let first = Socket.connect(full + "/pcscd.comm")
            #expect(first >= 0)
            for path in [folder, full] {
                _ = unsafe setenv("PCSCLITE_CSOCK_NAME", path + "/pcscd.comm", 1)
                let probes = Locked<Set<Int32>>([])
                let error = #expect(throws: SmartCardError.self) {
                    try ServiceProbe.check(CancellationSignal(), probes, patience: 50)
                }
                #expect(error?.code == .timeout && probes.withLock { $0.isEmpty })
            }
            close(first)
        }
        withExtendedLifetime((socket, full)) {}
    }

    /// Whether this process watches a folder for new entries, which it does last.
    private static var isWatching: Bool {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fdinfo")) ?? []
        return names.contains { name in
            let text = (try? String(contentsOfFile: "/proc/self/fdinfo/" + name, encoding: .utf8)) ?? ""
            return text.split(separator: "\n").contains { line in
                guard line.hasPrefix("inotify "), let mask = line.firstRange(of: " mask:") else { return false }
                return UInt32(line[mask.upperBound...].prefix { $0 != " " }, radix: 16).map {
                    $0 & UInt32(IN_CREATE) != 0
                }
                    ?? false
            }
        }
    }

    @Test(.ownThreads)
    func `waiting for the service: ends with a change of the socket's folders or permissions, or when it is cut`()
        async throws
    {
        let socket = try Socket()
        await #expect(processExitsWith: .success) { [folder = socket.folder as String] in
            _ = unsafe setenv("PCSCLITE_CSOCK_NAME", folder + "/later/pcscd.comm", 1)
            #expect(FileManager.default.createFile(atPath: folder + "/other", contents: nil))
            // The wait is cut; the folder is made; it is opened to others; the socket is moved into it.
            for round in 0..<4 {
                let (cut, isOver) = (CancellationSignal(), Locked(false))
                let other = Thread {
                    while !ServiceSocketTests.isWatching { usleep(1000) }
                    isOver.withLock { $0 = true }
                    switch round {
                    case 0: cut.cut()
                    case 1: _ = unsafe mkdir(folder + "/later", 0o700)
                    case 2: _ = unsafe chmod(folder + "/later", 0o755)
                    default: _ = unsafe rename(folder + "/other", folder + "/later/pcscd.comm")
                    }
                }
                other.start()
                // Other changes in the folders above may end a wait too.
                repeat {
                    SystemSmartCards.shared.waitForService(milliseconds: 600_000, cut)
                    #expect(!ServiceSocketTests.isWatching)
                } while !isOver.withLock { $0 }
            }
        }
        withExtendedLifetime(socket) {}
    }
}
