// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import NFCTestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct `Something that happens at any exchange of a flow` {
    /// Does something once, after a certain exchange.
    final class Trigger: Sendable {
        private let state = Locked<(left: Int, action: (@Sendable () -> Void)?)>((0, nil))

        func arm(after exchanges: Int, _ action: @escaping @Sendable () -> Void) {
            state.withLock { $0 = (exchanges, action) }
        }

        func count() {
            let action = state.withLock { state -> (@Sendable () -> Void)? in
                guard state.action != nil else { return nil }
                state.left -= 1
                return state.left < 0 ? state.action.take() : nil
            }
            action?()
        }

        var hasFired: Bool { state.withLock { $0.action == nil } }
    }

    /// Connects, asks, writes and reads, with something happening after one of the exchanges.
    ///
    /// - Returns: how each step ended, nil for success; and whether it happened at all.
    static func flow(
        after exchange: Int,
        _ event: @escaping @Sendable (NFCNDEFReaderSession, Task<[NFCReaderError.Code?], Never>) -> Void
    ) async throws -> (codes: [NFCReaderError.Code?], happened: Bool) {
        let trigger = Trigger()
        let field = VirtualField(onElapsed: { _ in trigger.count() })
        field.bring(TestTag.ntag213(uri: "https://example.com/a"))
        let environment = NFCEnvironment(reader: .field(field), clock: ManualClock())
        return try await NFCEnvironment.$scoped.withValue(environment) {
            var found = try await FoundTags()
            let (session, tag) = (found.session, found.tag)
            let (start, go) = AsyncStream<Void>.makeStream()
            let work = Task { () -> [NFCReaderError.Code?] in
                // The event may be the end of this task: it is armed before the first step.
                await Task.detached { for await _ in start {} }.value
                return await [
                    code { try await session.connect(to: tag) },
                    code { _ = try await tag.queryNDEFStatus() },
                    code { try await tag.writeNDEF(TestTag.message(uri: "https://example.com/longer/path")) },
                    code { _ = try await tag.readNDEF() },
                ]
            }
            trigger.arm(after: exchange) { event(session, work) }
            go.finish()
            let codes = await work.value
            let happened = trigger.hasFired
            session.invalidate()
            #expect(await found.events.end()?.code == .readerSessionInvalidationErrorUserCanceled)
            return (codes, happened)
        }
    }

    static func code(_ step: () async throws -> Void) async -> NFCReaderError.Code? {
        do {
            try await step()
            return nil
        } catch {
            return (error as? NFCReaderError)?.code ?? .readerErrorInvalidParameter
        }
    }

    @Test func `A session that is invalidated answers every caller once, with its end`() async throws {
        var exchange = 0
        while true {
            let (codes, happened) = try await Self.flow(after: exchange) { session, _ in session.invalidate() }
            guard happened else { break }
            #expect(codes.count == 4)
            #expect(codes.allSatisfy { $0 == nil || $0 == .readerTransceiveErrorSessionInvalidated }, "\(exchange)")
            #expect(codes.last == .readerTransceiveErrorSessionInvalidated, "exchange \(exchange)")
            exchange += 1
        }
        #expect(exchange > 10)
    }

    @Test func `A task that is cancelled is answered once, as if nothing had been`() async throws {
        var exchange = 0
        while true {
            let (codes, happened) = try await Self.flow(after: exchange) { _, work in work.cancel() }
            guard happened else { break }
            #expect(codes == [nil, nil, nil, nil], "exchange \(exchange)")
            exchange += 1
        }
        #expect(exchange > 10)
    }
}
