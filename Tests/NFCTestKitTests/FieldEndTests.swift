// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCRuntime
import NFCTestKit
import Testing

/// What a client leaves behind when its test ends.
enum Leftover: String, CaseIterable, Sendable {
    case openSession, openSessionWithTag, leavingSheet, waitingSession, delayedBlock, sleepingTask
}

/// A client that finds a tag, if one is near, and leaves something behind.
private final class Careless: NSObject, NFCTagReaderSessionDelegate, @unchecked Sendable {
    // Sendable because everything is used on the session's queue, once it has begun.
    private let leftover: Leftover
    private let remains: Remains
    private var sessions: [NFCTagReaderSession] = []
    private var found: (@Sendable () -> Void)?
    private var tag: NFCTag?

    init(_ leftover: Leftover, _ remains: Remains) {
        self.leftover = leftover
        self.remains = remains
    }

    func begin(_ found: @escaping @Sendable () -> Void) {
        self.found = found
        for _ in 0..<(leftover == .waitingSession ? 2 : 1) {
            guard let session = NFCTagReaderSession(pollingOption: .iso14443, delegate: self) else { continue }
            remains.add(session)
            sessions.append(session)
            session.begin()
        }
    }

    func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {
        if leftover != .openSession { return }
        found?()
    }

    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
        guard case .miFare(let miFare)? = tags.first else { return }
        tag = tags.first
        remains.add(miFare)
        switch leftover {
        case .leavingSheet: session.invalidate()
        case .delayedBlock: DispatchQueue.main.asyncAfter(deadline: .now() + 3600) { session.invalidate() }
        case .sleepingTask:
            let owner = self
            Task {
                try await Task.sleep(nanoseconds: 3600_000_000_000)
                owner.sessions = []
            }
        default: break
        }
        found?()
    }

    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {}
}

/// Objects that are not kept alive.
private final class Remains: @unchecked Sendable {
    // Sendable because of its lock, and because what it refers to is not used.
    private struct Weak {
        weak let object: AnyObject?
        let name: String
    }

    private let lock = NSLock()
    private var objects: [Weak] = []

    func add(_ object: AnyObject) {
        lock.withLock { objects.append(Weak(object: object, name: "\(type(of: object))")) }
    }

    /// What is alive still.
    var names: [String] { lock.withLock { objects.compactMap { $0.object == nil ? nil : $0.name } } }
    var count: Int { lock.withLock { objects.count } }
}

@Suite(.timeLimit(.minutes(10))) struct `The end of a field` {
    @Test(arguments: Leftover.allCases) func `What a client leaves behind is freed`(leftover: Leftover) async throws {
        let remains = Remains()
        try await withField { field in
            remains.add(field)
            remains.add(field.environment)
            if leftover != .openSession { remains.add(try await field.bring("NTAG215").virtual) }
            let client = Careless(leftover, remains)
            remains.add(client)
            try await field.completion { done in client.begin { done(()) } }
            // A task that is to sleep does so by then.
            await field.settle()
        }
        #expect(remains.count >= (leftover == .openSession ? 4 : 6))
        // Threads that end what is left let go of it a moment later.
        for _ in 0..<500 where !remains.names.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        #expect(remains.names == [])
    }
}
