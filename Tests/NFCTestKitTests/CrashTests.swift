// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCTestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct `A process that ends in a run` {
    /// What a process said on standard error.
    static func said(_ result: ExitTest.Result?) throws -> String {
        String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    }

    @Test func `A record that is taken for granted names its run`() async throws {
        let said = try Self.said(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                try await explore(.losses, near: PlantedBug.link) { _ in
                    try await LinkClient(CorrectClient.link, bug: .forcesPayload).scan()
                }
            }
        )
        #expect(said.contains("while an exploration was in this run: NFC_REPLAY=loss@10\n"), "\(said)")
        #expect(said.contains("       sheet: scanning \"Hold the card near the phone.\"\n"))
        #expect(said.contains("   9 > 30 03\n     < e1 10 3e 00 "), "\(said)")
        // Swift's own words follow.
        #expect(said.contains("Fatal error: Unexpectedly found nil"))
    }

    @Test func `A continuation that is resumed twice names its run`() async throws {
        let said = try Self.said(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                try await explore(.badAnswers, near: PlantedBug.link) { _ in
                    try await LinkClient(CorrectClient.link, bug: .resumesTwice).scan()
                }
            }
        )
        #expect(said.contains("in this run: NFC_REPLAY="), "\(said)")
        #expect(said.contains("tried to resume its continuation more than once"))
    }

    @Test func `Each way to end is seen, and the process ends as it would have`() async throws {
        for signal in [SIGSEGV, SIGBUS, SIGABRT, SIGFPE] {
            let said = try Self.said(
                await #expect(processExitsWith: .signal(signal), observing: [\.standardErrorContent]) {
                    [signal = signal as Int32] in
                    try await explore(.losses, near: "NTAG215") { field in
                        _ = try await field.completion { LinkReader(queue: .main).begin($0) }
                        if signal == SIGABRT { abort() }
                        raise(signal)
                    }
                }
            )
            #expect(said.contains("in this run: no fault, in the first run\n"), "\(said)")
        }
        let said = try Self.said(
            await #expect(processExitsWith: .exitCode(3), observing: [\.standardErrorContent]) {
                try await explore([.cancels], near: PlantedBug.link) { field in
                    do {
                        _ = try await field.completion { LinkReader(queue: .main).begin($0) }.get()
                    } catch {
                        exit(3)
                    }
                }
            }
        )
        #expect(said.contains("NFC_REPLAY=cancel@1\n"), "\(said)")
    }

    @Test func `Outside of a run nothing is said`() async throws {
        let said = try Self.said(
            await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
                try await explore(.cancels, near: PlantedBug.link) { field in
                    _ = try await field.completion { LinkReader(queue: .main).begin($0) }.get()
                }
                abort()
            }
        )
        #expect(!said.contains("NFCTestKit"))
    }
}
