// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import TagLink
import Testing

/// What is held against a run, but for the memory of its tags.
@Suite(.timeLimit(.minutes(10))) struct InvariantTests {
    // MARK: What the person sees

    /// Ends another session at once, with an error on its sheet or with a check mark.
    private static func show(_ error: String?) {
        let session = NFCNDEFReaderSession.begun(Nobody())
        if let error { session.invalidate(errorMessage: error) } else { session.invalidate() }
    }

    @Test func `userSeesError: an error after a cancel, without words or with a check mark is found`() async throws {
        typealias Act = @Sendable (TestField) -> Void
        // What a flow whose scan has failed does before it throws, and how the finding ends.
        let rows: [(name: String, exploration: Exploration, finding: String?, act: Act)] = [
            (
                "Cancel, app shows errors", .cancels, "cancelled, but the app showed the error \"One.\"",
                { field in for text in ["One.", "Two."] { field.showedError(text) } }
            ),
            (
                "Cancel, sheet shows an error", .cancels, "cancelled, but the sheet showed the error \"Oh.\"",
                { _ in Self.show("Oh.") }
            ),
            ("Cancel beside another fault", .replay("flip@1+cancel@3"), nil, { _ in Self.show("Oh.") }),
            ("no words", .badAnswers, ", and the error message on the sheet is empty", { _ in Self.show("") }),
            ("check mark", .badAnswers, ", and the sheet ended with a check mark", { _ in Self.show(nil) }),
            (
                "check mark, app shows the error", .badAnswers, nil,
                { field in
                    Self.show(nil)
                    field.showedError("The card can't be written.")
                }
            ),
        ]
        for row in rows {
            let failure = try await failure(row.exploration, invariants: [.userSeesError]) { field -> String in
                do {
                    return try await PageWriter(CorrectClient.message).scan(field)
                } catch {
                    row.act(field)
                    throw error
                }
            }
            let isExpected = row.finding.map { failure?.finding.hasSuffix($0) == true } ?? (failure == nil)
            #expect(isExpected, "\(row.name): \(failure?.line ?? "nothing found")")
        }
    }

    @Test func `errorShown: a flow that throws without a shown error is found, unless its task was cancelled`()
        async throws
    {
        let rows: [(any Error, isShown: Bool, isFound: Bool)] = [
            (CocoaError(.fileNoSuchFile), false, true), (CocoaError(.fileNoSuchFile), true, false),
            (CancellationError(), false, false),
        ]
        for (error, isShown, isFound) in rows {
            let failure = try await failure(.losses, invariants: [.errorShown, .userSeesError]) { field -> String in
                do { return try await LinkClient.run(field, bug: .silentEnd) } catch {}
                if isShown { field.showedError("The card can't be written.") }
                throw error
            }
            #expect(failure?.invariant == (isFound ? Invariant.errorShown.name : nil), "\(error)")
        }
    }

    @Test func `errorShown: a sheet that leaves at the session's limit counts as shown`() async throws {
        #expect(
            try await failure(.losses, invariants: [.errorShown]) { field in
                try await LinkClient.persist(field)
                return true
            } == nil
        )
    }

    @Test func `errorShown: a scan that the test cancels needs no error`() async throws {
        let failure = try await failure(.losses, invariants: [.errorShown, .userSeesError]) { field -> String in
            async let result = field.completion("write") { LinkClient(newLink, isPatient: true).start($0) }
            await field.wait(for: .seconds(3))
            // Without a fault, no session is left to cancel.
            try? await field.cancelSheet()
            return try await result.get()
        }
        #expect(failure == nil)
    }

    @Test func `errorShown: a sheet that leaves before the session's limit does not show the error`() async throws {
        for delay in [Duration.zero, .seconds(40), .seconds(100)] {
            let failure = try await failure(.losses, invariants: [.errorShown]) { field -> String in
                await field.wait(for: delay)
                let link = try await field.completion("write") { LinkClient(bug: .silentEnd).start($0) }
                // Until the sheet has left.
                await field.wait(for: .seconds(5))
                return try link.get()
            }
            #expect(failure?.invariant == Invariant.errorShown.name, "\(delay)")
        }
    }

    // MARK: What the flow returns

    @Test func `completesOnce: each handler is called once, and the first wrong one is named`() async throws {
        typealias Flow = @Sendable (TestField) async throws -> Void
        let rows: [(String?, Flow)] = [
            (nil, { field in for _ in 0..<2 { _ = try await LinkReader.run(field) } }),
            (
                "read 2 was called 2 times",
                { field in
                    _ = try await field.completion("read") { (done: (Int) -> Void) in done(1) }
                    _ = try await field.completion("read") { (done: (Int) -> Void) in for _ in 0..<2 { done(1) } }
                }
            ),
            (
                "never was called 0 times",
                { field in
                    Task { _ = try? await field.completion("never") { (_: @escaping @Sendable (Int) -> Void) in } }
                    await field.settle()
                    _ = try await LinkReader.run(field)
                }
            ),
            (
                "a was called 2 times",
                { field in for name in ["b", "a", "c", "a", "b", "c"] { field.completed(name) } }
            ),
        ]
        for (finding, flow) in rows {
            let failure = try await failure(.losses, invariants: [.completesOnce]) { field in
                try await flow(field)
                return true
            }
            #expect(failure?.invariant != "something is tried" && failure?.finding == finding)
        }
    }

    /// What is found when a flow returns another value in the run with a fault.
    private static func finding<Value: Equatable & Sendable>(_ first: Value, _ later: Value) async throws -> String? {
        let runs = RunCount()
        return try await failure(.replay("flip@1"), invariants: [.sameResult]) { field in
            _ = try? await LinkReader.run(field)
            return runs.begin() == 1 ? first : later
        }?.finding
    }

    @Test func `sameResult: a result that differs from the one without faults is found`() async throws {
        let rows: [(found: String?, words: String)] = [
            (try await Self.finding("a", "b"), "b, and without faults a"),
            (try await Self.finding(Int?.some(3), nil), "nil, and without faults 3"),
            (try await Self.finding([["a"], []], [nil]), "[nil], and without faults [[a], []]"),
            (try await Self.finding([Data([0x0F, 0xAB]), nil], [nil]), "[nil], and without faults [<0f ab>, nil]"),
        ]
        for (found, words) in rows { #expect(found == "the flow returned \(words)") }
        #expect(try await Self.finding("a", "a") == nil)
    }

    @Test func `sameResult: a cancelled flow may return anything`() async throws {
        let failure = try await failure(.cancels, invariants: [.sameResult]) { try? await LinkReader.run($0) }
        #expect(failure == nil, "\(failure?.finding ?? "passed")")
    }

    // MARK: What is freed

    /// Keeps references.
    private final class Keeper: Sendable {
        private let objects = Locked<[any AnyObject & Sendable]>([])
        func keep(_ object: any AnyObject & Sendable) { objects.withLock { $0.append(object) } }
    }

    /// Scans, and keeps the client in some runs.
    private static func leaky(
        _ exploration: Exploration,
        _ invariants: [Invariant],
        keepsIn isKept: @escaping @Sendable (Int, TestField) -> Bool
    ) async throws -> (failure: ExplorationFailure?, runs: Int) {
        let (keeper, runs) = (Keeper(), RunCount())
        let failure = try await failure(exploration, invariants: invariants) { field -> String? in
            let client = LinkClient()
            if isKept(runs.begin(), field) { keeper.keep(client) }
            return try? await client.scan()
        }
        return (failure, runs.value)
    }

    @Test func `nothingLeaks: an object that is never freed is found, a replaced one is not`() async throws {
        let shared = LinkClient()
        #expect(try await failure(.cancels) { _ in try await shared.scan() } == nil)
        let (failure, _) = try await Self.leaky(.cancels, Invariant.all) { _, _ in true }
        #expect(failure?.invariant == Invariant.nothingLeaks.name)
        #expect(failure?.finding.contains("the delegate LinkClient") == true)
    }

    @Test func `nothingLeaks: a leak of the last run is found by one more run, which is not counted`() async throws {
        let (failure, runs) = try await Self.leaky(.replay("cancel@1"), [.nothingLeaks]) { number, _ in number == 2 }
        #expect(failure?.invariant == Invariant.nothingLeaks.name && failure?.replay == "cancel@1")
        #expect(failure?.runs == 2 && runs == 3)
        #expect(failure?.finding.hasPrefix("the delegate LinkClient was not freed: ") == true)
        // Without the invariant there is no further run.
        let (passed, count) = try await Self.leaky(.replay("cancel@1"), []) { _, _ in true }
        #expect(passed == nil && count == 2)
    }

    @Test(arguments: [3, Int.max])
    func `nothingLeaks: a task that retries a few times is no leak, and one without end is named`(
        tries: Int
    ) async throws {
        let isOver = Box<Bool>()
        defer { isOver.set(true) }
        let failure = try await failure(.cancels, invariants: [.nothingLeaks]) { _ -> String? in
            let client = LinkClient()
            let text = try? await client.scan()
            Task {
                for _ in 0..<tries {
                    if isOver.value != nil { return }
                    try await Task.sleep(for: .milliseconds(250))
                    withExtendedLifetime(client) {}
                }
            }
            return text
        }
        if tries == 3 {
            #expect(failure == nil, "\(failure?.finding ?? "")")
        } else {
            #expect(failure?.finding.contains("the delegate LinkClient was not freed: the app repeats a delay") == true)
        }
    }
}
