// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import Testing

/// What a person has to be told when a scan fails, and what not.
@Suite(.timeLimit(.minutes(10))) struct `What a person hears of a failure` {
    /// What is found when a flow whose scan fails does something before it ends.
    private static func finding(
        _ exploration: Exploration,
        _ then: @escaping @Sendable (TestField) -> Void
    ) async throws -> String? {
        try await `What is checked after a run`.failure(exploration, invariants: [.personTold]) { field -> String in
            do {
                return try await PageWriter(CorrectClient.message).scan(field)
            } catch {
                then(field)
                throw error
            }
        }?.finding
    }

    /// Ends another session at once, with an error on its sheet or with a check mark.
    private static func show(_ error: String?) {
        let session = NFCNDEFReaderSession(delegate: Nobody(), queue: .main, invalidateAfterFirstRead: false)
        session.begin()
        if let error { session.invalidate(errorMessage: error) } else { session.invalidate() }
    }

    @Test func `An error on the sheet in answer to Cancel is found`() async throws {
        let finding = try await Self.finding(.cancels) { _ in Self.show("Something went wrong.") }
        #expect(finding == "the person cancelled, and the sheet showed the error \"Something went wrong.\"")
    }

    @Test func `Of several errors in answer to Cancel the first is told`() async throws {
        let finding = try await Self.finding(.cancels) { field in
            for text in ["One.", "Two."] { field.showedError(text) }
        }
        #expect(finding == "the person cancelled, and the app showed the error \"One.\"")
    }

    @Test func `An error on the sheet may be about another fault than Cancel`() async throws {
        let finding = try await Self.finding(.replay("flip@1+cancel@3")) { _ in Self.show("Something went wrong.") }
        #expect(finding == nil, "\(finding ?? "passed")")
    }

    @Test func `An error without words at the end is found`() async throws {
        let finding = try await Self.finding(.badAnswers) { _ in Self.show("") }
        #expect(finding?.hasSuffix(", and the error on the sheet has no words") == true, "\(finding ?? "passed")")
    }

    @Test func `A check mark at the end is found, unless the app shows the error itself`() async throws {
        let finding = try await Self.finding(.badAnswers) { _ in Self.show(nil) }
        #expect(finding?.hasSuffix(", and the sheet ended with a check mark") == true, "\(finding ?? "passed")")
        let told = try await Self.finding(.badAnswers) { field in
            Self.show(nil)
            field.showedError("The card can't be written.")
        }
        #expect(told == nil, "\(told ?? "passed")")
    }

    /// What is found when a flow ends its session without a word, and then in some way.
    private static func silentFinding(
        _ end: @escaping @Sendable (TestField, any Error) -> any Error
    ) async throws -> String? {
        try await `What is checked after a run`.failure(.losses, invariants: [.errorShown, .personTold]) {
            field -> String in
            do {
                return try await field.completion("write") { Writer("a", bug: .noErrorShown).start($0) }.get()
            } catch {
                throw end(field, error)
            }
        }?.finding
    }

    @Test func `An error that the app shows beside the sheet is one that is shown`() async throws {
        let silent = try await Self.silentFinding { $1 }
        #expect(silent?.hasSuffix(", and the sheet never showed an error") == true, "\(silent ?? "passed")")
        let told = try await Self.silentFinding { field, error in
            field.showedError("The card can't be written.")
            return error
        }
        #expect(told == nil, "\(told ?? "passed")")
    }

    /// An error with a text of some length.
    private struct Wordy: Error, CustomStringConvertible {
        let description: String
    }

    @Test(arguments: [200, 201]) func `Of a long error two hundred characters are told`(count: Int) async throws {
        let words = String(repeating: "x", count: count)
        let finding = try await Self.silentFinding { _, _ in Wordy(description: words) }
        let shown = String(words.prefix(200)) + (count > 200 ? "…" : "")
        #expect(finding == "the flow failed with \(shown), and the sheet never showed an error")
    }

    @Test func `A flow whose task was cancelled owes nobody an error`() async throws {
        let cancelled = try await Self.silentFinding { _, _ in CancellationError() }
        #expect(cancelled == nil, "\(cancelled ?? "passed")")
    }
}
