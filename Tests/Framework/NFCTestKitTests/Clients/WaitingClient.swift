// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import TagLink

/// A client that reads a link on a queue or a thread of its own, and waits there for the end of each call.
final class WaitingClient: NSObject, NFCNDEFReaderSessionDelegate, @unchecked Sendable {
    // Sendable because the session's queue uses everything but the completion, which has a lock.

    /// What the client waits with.
    enum Tool: String, CaseIterable, Sendable {
        case semaphore, group, condition, conditionOnThread
    }

    private let tool: Tool
    private let queue = DispatchQueue(label: "app.nfc.waiting")
    private var session: NFCNDEFReaderSession?
    private var itself: WaitingClient?
    private let completion = Locked<[@Sendable (Result<String, any Error>) -> Void]>([])

    init(_ tool: Tool) { self.tool = tool }

    /// Reads a link, as the flow of a test.
    @Sendable static func run(_ field: TestField, with tool: Tool) async throws -> String {
        try await field.completion("read") { WaitingClient(tool).start($0) }.get()
    }

    private func start(_ completion: @escaping @Sendable (Result<String, any Error>) -> Void) {
        self.completion.withLock { $0 = [completion] }
        itself = self
        session = .begun(self)
    }

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}

    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
        guard let tag = tags.first, tags.count == 1 else {
            session.invalidate(errorMessage: "Hold one card alone near the phone.")
            return finish(.failure(CocoaError(.formatting)))
        }
        // Sendable because it is used by one thread at a time.
        nonisolated(unsafe) let (session, foundTag) = (session, tag)
        let work: @Sendable () -> Void = { [self] in unsafe read(foundTag, session) }
        if tool == .conditionOnThread { Thread.detachNewThread(work) } else { queue.async(execute: work) }
    }

    private func read(_ tag: any NFCNDEFTag, _ session: NFCNDEFReaderSession) {
        let (link, failure) = (Box<String>(), Box<any Error>())
        wait { end in
            session.connect(to: tag) { error in
                if let error { failure.set(error) }
                end()
            }
        }
        if failure.value == nil {
            wait { end in
                tag.readNDEF { message, error in
                    if let error { failure.set(error) }
                    if let url = message?.records.first?.wellKnownTypeURIPayload() { link.set(url.absoluteString) }
                    end()
                }
            }
        }
        guard let link = link.value else {
            session.invalidate(errorMessage: "Hold the card still, and try again.")
            return finish(.failure(failure.value ?? CocoaError(.formatting)))
        }
        session.invalidate()
        finish(.success(link))
    }

    /// Begins a call, and blocks until it ends.
    private func wait(_ begin: (_ end: @escaping @Sendable () -> Void) -> Void) {
        switch tool {
        case .semaphore:
            let semaphore = DispatchSemaphore(value: 0)
            begin { semaphore.signal() }
            semaphore.wait()
        case .group:
            let group = DispatchGroup()
            group.enter()
            begin { group.leave() }
            group.wait()
        case .condition, .conditionOnThread:
            let (condition, hasEnded) = (NSCondition(), Box<Bool>())
            begin {
                condition.withLock {
                    hasEnded.set(true)
                    condition.signal()
                }
            }
            condition.withLock { while hasEnded.value == nil { condition.wait() } }
        }
    }

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        finish(.failure(error))
        self.session = nil
        itself = nil
    }

    private func finish(_ result: Result<String, any Error>) {
        let completions = completion.withLock { completions in
            defer { completions = [] }
            return completions
        }
        for completion in completions { completion(result) }
    }
}
