// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import FoundationNetworking
import Glibc
import NFCTestKit
import Testing

/// How a client waits by the clock that its test has.
enum Delay: String, CaseIterable, Sendable {
    case asyncAfter, sleep, sleepInDetachedTask, asyncAfterOfCompletion

    /// Calls something after half a second.
    func begin(_ work: @escaping @Sendable () -> Void) {
        switch self {
        case .asyncAfter, .asyncAfterOfCompletion:
            DispatchQueue.global().asyncAfter(deadline: .now() + 0.5, execute: work)
        case .sleep:
            Task {
                try await Task.sleep(nanoseconds: 500_000_000)
                work()
            }
        case .sleepInDetachedTask:
            Task.detached {
                try await Task.sleep(nanoseconds: 500_000_000)
                work()
            }
        }
    }
}

/// How a client waits in a handler for what takes real time.
enum RealWait: String, CaseIterable, Sendable {
    case threadSleep, usleep, semaphore, group, condition, process, request

    /// Waits for a while.
    func perform(_ server: SlowServer) {
        switch self {
        case .threadSleep: Thread.sleep(forTimeInterval: 1.3)
        case .usleep: Glibc.usleep(900_000)
        case .semaphore: _ = DispatchSemaphore(value: 0).wait(timeout: .now() + 1.3)
        case .group:
            let group = DispatchGroup()
            DispatchQueue.global().async(group: group) { Thread.sleep(forTimeInterval: 1.3) }
            group.wait()
        case .condition:
            let condition = NSCondition()
            condition.lock()
            _ = condition.wait(until: Date(timeIntervalSinceNow: 1.3))
            condition.unlock()
        case .process:
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sleep")
            process.arguments = ["1.3"]
            try? process.run()
            process.waitUntilExit()
        case .request:
            let semaphore = DispatchSemaphore(value: 0)
            server.ask { _ in semaphore.signal() }
            semaphore.wait()
        }
    }
}

/// A server of the same machine that thinks before it answers.
final class SlowServer: Sendable {
    private let socket: Int32
    private let port: UInt16

    /// - Parameter seconds: how long it thinks.
    init(thinkingFor seconds: Double = 1.3) {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let socket = socket
        unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(socket, pointer, length)
                unsafe getsockname(socket, pointer, &length)
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        listen(socket, 8)
        Thread.detachNewThread {
            while true {
                let connection = accept(socket, nil, nil)
                guard connection >= 0 else { return }
                Thread.sleep(forTimeInterval: seconds)
                let answer = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\ndone"
                _ = unsafe [UInt8](answer.utf8).withUnsafeBytes { unsafe write(connection, $0.baseAddress, $0.count) }
                close(connection)
            }
        }
    }

    deinit { shutdown(socket, Int32(SHUT_RDWR)) }

    /// Asks, and calls something with the answer.
    ///
    /// - Returns: what ends the request sooner.
    @discardableResult func ask(_ done: @escaping @Sendable (String?) -> Void) -> @Sendable () -> Void {
        guard let url = URL(string: "http://127.0.0.1:\(port)/") else {
            done(nil)
            return {}
        }
        let session = URLSession(configuration: .ephemeral)
        let request = session.dataTask(with: url) { data, _, _ in
            done(data.map { String(decoding: $0, as: UTF8.self) })
        }
        request.resume()
        session.finishTasksAndInvalidate()
        return { request.cancel() }
    }
}

private let tag = TagSpec.product("NTAG215", holding: .uri("https://example.com/time"))

/// Reads with a delay, or a real wait, before the read.
private func read(
    queue: DispatchQueue? = nil,
    grace: Duration = .seconds(1),
    before: @escaping @Sendable (_ read: @escaping @Sendable () -> Void) -> Void
) async throws {
    try await withField(tag, grace: grace) { field in
        let found: Result<String, any Error> = try await field.completion("read") { done in
            LinkReader(queue: queue) { reader in before { reader.readLink() } }.begin(done)
        }
        #expect(try found.get() == "https://example.com/time")
        #expect(field.now < .seconds(15))
    }
}

@Suite(.timeLimit(.minutes(10))) struct `Time of a test, beside other tests` {
    @Test(arguments: Delay.allCases) func `A delay of the code under test passes before a session's limit`(delay: Delay)
        async throws
    {
        try await read(grace: .seconds(60)) { read in
            if delay == .asyncAfterOfCompletion {
                DispatchQueue.main.async { delay.begin(read) }
            } else {
                delay.begin(read)
            }
        }
    }

    @Test(arguments: RealWait.allCases) func `A real wait in a handler lets no limit pass`(wait: RealWait) async throws
    {
        let server = SlowServer()
        try await read { read in
            wait.perform(server)
            read()
        }
    }

    @Test func `An answer from a server that a handler goes on with lets no limit pass`() async throws {
        let server = SlowServer()
        try await read { read in
            server.ask { answer in if answer == "done" { read() } }
        }
    }
}

@Suite(.serialized, .timeLimit(.minutes(10))) struct `Time of a test, one after the other` {
    @Test(arguments: Delay.allCases) func `A delay of the code under test passes before a session's limit`(delay: Delay)
        async throws
    {
        try await read(queue: .main, grace: .seconds(60)) { read in delay.begin(read) }
    }

    @Test(arguments: [0.5, 0.012, 0.0005]) func `A delay is as long as the code says, though it asks late for it`(
        seconds: Double
    ) async throws {
        try await withField { field in
            try await field.completion("later") { done in
                DispatchQueue.global().async {
                    let end = DispatchTime.now() + seconds
                    usleep(30_000)
                    DispatchQueue.global().asyncAfter(deadline: end) { done(()) }
                }
            }
            #expect(field.now == .seconds(seconds))
        }
    }

    @Test func `A delay until a time of day passes by the field's time too`() async throws {
        try await withField(limit: .seconds(7200)) { field in
            try await field.completion("later") { done in
                DispatchQueue.global().asyncAfter(wallDeadline: .now() + 3600) { done(()) }
            }
            // The code took a moment to ask for it.
            #expect(field.now > .seconds(3500) && field.now <= .seconds(3600))
        }
    }

    @Test func `What a semaphore is signalled by may wait for time itself`() async throws {
        try await read(grace: .seconds(60)) { read in
            let semaphore = DispatchSemaphore(value: 0)
            DispatchQueue.global().asyncAfter(deadline: .now() + 5) { semaphore.signal() }
            semaphore.wait()
            read()
        }
    }

    @Test(.timeLimit(.minutes(2))) func `A delay passes at once, however long it and the grace are`() async throws {
        try await withField(grace: .seconds(3600)) { field in
            try await Task.sleep(for: .seconds(500))
            #expect(field.now == .seconds(500))
        }
    }

    @Test func `A session's limit passes when the test lets it pass, without a grace`() async throws {
        try await withField(grace: .seconds(3600)) { field in
            async let found: Result<String, any Error> = field.completion("read") { LinkReader().begin($0) }
            await field.wait(for: .seconds(70))
            let result = try await found
            #expect(throws: NFCReaderError.self) { try result.get() }
            #expect(field.now >= .seconds(70) && field.now < .seconds(71))
        }
    }
}
