// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import NFCTestKit
import TagLink
import Testing

@Suite(.timeLimit(.minutes(5))) struct `A session that begins while another one has the reader` {
    static let tag = `What an exploration makes happen`.tag
    private static let new = `What an exploration makes happen`.new

    @Test(.field(tag, busyPolicy: .refuseWhileSheetLeaves))
    func `A field of the trait can refuse a session that begins while the last sheet is leaving`() async throws {
        let field = try #require(TestField.current)
        _ = try await field.completion("one") { Writer(Self.new).start($0) }.get()
        await field.settle()
        let second = try await field.completion("two") { Writer(Self.new).start($0) }
        #expect(second.code == .readerSessionInvalidationErrorSystemIsBusy)
    }

    @Test func `The fields of an exploration refuse such a session too, where that is asked for`() async throws {
        for policy in [SessionArbiter.BusyPolicy.queue, .refuseWhileSheetLeaves] {
            let refusals = Locked<[Bool]>([])
            try await explore(.replay("flip@1"), near: Self.tag, busyPolicy: policy, invariants: []) { field in
                _ = try? await field.completion("one") { Writer(Self.new).start($0) }.get()
                await field.settle()
                let second = try await field.completion("two") { Writer(Self.new).start($0) }
                let isRefused = second.code == .readerSessionInvalidationErrorSystemIsBusy
                refusals.withLock { $0.append(isRefused) }
            }
            #expect(refusals.withLock { $0.first } == (policy == .refuseWhileSheetLeaves))
        }
    }

    @Test func `A field can refuse a session that begins while the last sheet is leaving`() async throws {
        for policy in [SessionArbiter.BusyPolicy.queue, .refuseWhileSheetLeaves] {
            try await withField(Self.tag, busyPolicy: policy) { field in
                _ = try await field.completion("one") { Writer(Self.new).start($0) }.get()
                await field.settle()
                let second = try await field.completion("two") { Writer(Self.new).start($0) }
                let code = second.code
                #expect(code == (policy == .queue ? nil : .readerSessionInvalidationErrorSystemIsBusy))
            }
        }
    }
}
