// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct `Something that happens at any exchange of a flow` {
    /// Connects, asks, writes and reads, with something happening at a moment of it.
    ///
    /// - Parameter moment: when, from the first step on; nil for nothing.
    /// - Returns: how each step ended, nil for success; and a moment within each exchange.
    static func flow(
        at moment: Duration? = nil,
        _ event: @escaping @Sendable (NFCNDEFReaderSession, Task<[NFCReaderError.Code?], Never>) -> Void = { _, _ in }
    ) async throws -> (codes: [NFCReaderError.Code?], moments: [Duration]) {
        try await withField(.product("NTAG213", holding: .uri("https://example.com/a"))) { field in
            var found = try await FoundTags()
            let (session, tag) = (found.session, found.tag)
            let (start, go) = AsyncStream<Void>.makeStream()
            let work = Task { () -> [NFCReaderError.Code?] in
                // The event may be the end of this task: it is set before the first step.
                await Task.detached { for await _ in start {} }.value
                return await [
                    code { try await session.connect(to: tag) },
                    code { _ = try await tag.queryNDEFStatus() },
                    code { try await tag.writeNDEF(TestTag.message(uri: "https://example.com/longer/path")) },
                    code { _ = try await tag.readNDEF() },
                ]
            }
            let (began, before) = (field.now, field.trace.entries.count)
            if let moment { _ = field.environment.clock.schedule(after: moment) { event(session, work) } }
            go.finish()
            let codes = await work.value
            let moments = field.trace.entries.dropFirst(before).compactMap { entry -> Duration? in
                // It is noted with the time at which it begins.
                guard case .exchange = entry.event, let time = entry.time else { return nil }
                return time - began + .nanoseconds(1)
            }
            session.invalidate()
            #expect(await found.events.end()?.code == .readerSessionInvalidationErrorUserCanceled)
            return (codes, moments)
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
        let moments = try await Self.flow().moments
        #expect(moments.count > 10)
        for moment in moments {
            let (codes, exchanges) = try await Self.flow(at: moment) { session, _ in session.invalidate() }
            #expect(codes.count == 4)
            #expect(codes.allSatisfy { $0 == nil || $0 == .readerTransceiveErrorSessionInvalidated }, "\(moment)")
            #expect(codes.last == .readerTransceiveErrorSessionInvalidated, "\(moment)")
            #expect(exchanges == moments.filter { $0 <= moment }, "\(moment)")
        }
    }

    @Test func `A task that is cancelled is answered once, as if nothing had been`() async throws {
        let moments = try await Self.flow().moments
        #expect(moments.count > 10)
        for moment in moments {
            let (codes, exchanges) = try await Self.flow(at: moment) { _, work in work.cancel() }
            #expect(codes == [nil, nil, nil, nil] && exchanges == moments, "\(moment)")
        }
    }
}
