// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import TagLink
import TestThreads
import Testing
import VirtualTags

@Suite(.timeLimit(.minutes(10))) struct `What is checked after a run` {
    static let link = TagSpec.product("NTAG215", holding: .uri("https://example.com/old"))

    /// Runs a flow, and says what does not hold.
    static func failure<Value: Equatable & Sendable>(
        _ exploration: Exploration,
        near tag: TagSpec = link,
        invariants: [Invariant] = Invariant.all,
        _ flow: @escaping @Sendable (TestField) async throws -> Value
    ) async throws -> ExplorationFailure? {
        do {
            _ = try await explore(exploration, near: tag, invariants: invariants) { field in try await flow(field) }
            return nil
        } catch let failure as ExplorationFailure {
            return failure
        }
    }

    @Test func `A result of bytes is shown as they are, and what a flow threw is named`() async throws {
        let result = try await Self.failure(.losses) { field -> [Data?] in
            let link = try? await field.completion("read") { LinkReader().begin($0) }.get()
            return [link.map { Data($0.utf8.prefix(2)) } ?? Data([0xAB]), nil]
        }
        #expect(result?.finding == "the flow returned [<ab>, nil], and without faults [<68 74>, nil]")
        let thrown = try await Self.failure(.losses) { field -> Int in
            let link = try? await field.completion("write") { Writer("a", bug: .noErrorShown).start($0) }.get()
            if link == nil { throw CocoaError(.userCancelled) }
            return 0
        }
        #expect(thrown?.finding.contains("the flow failed with ") == true, "\(thrown?.finding ?? "passed")")
    }

    @Test(.ownThreads) func `A line about the app is printed once for all runs`() async throws {
        let said = try CrashTests.said(
            await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                try await explore(.losses, near: Self.link, invariants: []) { field in
                    let unheard = NFCNDEFReaderSession(
                        delegate: Unheard(),
                        queue: nil,
                        invalidateAfterFirstRead: true
                    )
                    unheard.begin()
                    await field.settle()
                    unheard.invalidate()
                    await field.settle()
                }
            }
        )
        let count = said.components(separatedBy: "The delegate of a session was released").count - 1
        #expect(count == 1, "\(said)")
    }

    /// A delegate without a strong reference.
    private final class Unheard: NSObject, NFCNDEFReaderSessionDelegate {
        func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}
        func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {}
    }

    @Test func `Bytes that hold no NDEF are checked too`() async throws {
        let flow: @Sendable (TestField) async throws -> String = { try await BlockWriter().scan($0) }
        let failure = try await Self.failure(.badAnswers, near: "ICODE SLIX2", flow)
        #expect(failure?.invariant == Invariant.memoryIntact.name)
        #expect(
            failure?.finding.contains(
                "block 20 holds 00 00 00 00 and not 01 02 03 04, and the flow ended as if all were well"
            )
                == true,
            "\(failure?.description ?? "passed")"
        )
        let rest = Invariant.all.except(.memoryIntact)
        #expect(rest.count == Invariant.all.count - 1)
        #expect(try await Self.failure(.badAnswers, near: "ICODE SLIX2", invariants: rest, flow) == nil)
    }

    @Test func `An error in answer to Cancel is found`() async throws {
        let failure = try await Self.failure(.cancels) { field -> String in
            do {
                return try await PageWriter(CorrectClient.message).scan(field)
            } catch {
                field.showedError("Something went wrong")
                throw error
            }
        }
        #expect(failure?.invariant == Invariant.personTold.name)
        #expect(failure?.replay == "cancel@1")
    }

    @Test func `A check mark behind an error is found`() async throws {
        let failure = try await Self.failure(.badAnswers) { field -> String in
            do {
                return try await PageWriter(CorrectClient.message).scan(field)
            } catch {
                // Another session reports success.
                let session = NFCNDEFReaderSession(delegate: Nobody(), queue: .main, invalidateAfterFirstRead: false)
                session.begin()
                session.invalidate()
                throw error
            }
        }
        #expect(failure?.invariant == Invariant.personTold.name, "\(failure?.description ?? "passed")")
    }

    @Test func `A sheet that leaves by its own limit is an end that the person sees`() async throws {
        let failure = try await Self.failure(.losses, invariants: [.errorShown]) { field in
            try await Patient.writeOrLimit("https://example.com/new", field)
            return true
        }
        #expect(failure == nil, "\(failure?.description ?? "passed")")
    }

    @Test func `A sheet that leaves before its own limit is not such an end, at any time`() async throws {
        for delay in [Duration.zero, .seconds(40), .seconds(100)] {
            let failure = try await Self.failure(.losses, invariants: [.errorShown]) { field in
                await field.wait(for: delay)
                let link: Result<String, any Error> = try await field.completion("write") {
                    Writer("a", bug: .noErrorShown).start($0)
                }
                // Until the sheet has left.
                await field.wait(for: .seconds(5))
                return try link.get()
            }
            #expect(failure?.invariant == Invariant.errorShown.name, "\(delay)")
        }
    }

    @Test func `A session that ends in its last seconds has not reached its limit, though its sheet leaves later`()
        async throws
    {
        let runs = Locked(0)
        let failure = try await Self.failure(.replay("flip@1"), invariants: [.errorShown]) { field -> String in
            let isFirst = runs.withLock { runs in
                runs += 1
                return runs == 1
            }
            if isFirst { return try await field.completion("read") { LinkReader(queue: .main).begin($0) }.get() }
            try await field.takeAway()
            let delegate = Nobody()
            let session = NFCNDEFReaderSession(delegate: delegate, queue: .main, invalidateAfterFirstRead: false)
            session.begin()
            await field.wait(for: .seconds(58))
            session.invalidate()
            // Until the sheet has left.
            await field.wait(for: .seconds(5))
            withExtendedLifetime(delegate) {}
            throw CocoaError(.featureUnsupported)
        }
        #expect(failure?.invariant == Invariant.errorShown.name, "\(failure?.description ?? "passed")")
    }

    @Test func `A session that the person cancels has not reached its limit, however long ago another one began`()
        async throws
    {
        let failure = try await Self.failure(.replay("flip@1"), invariants: [.sessionEnds]) { field -> Bool in
            _ = try? await field.completion("one") { LinkReader(queue: .main).begin($0) }.get()
            await field.wait(for: .seconds(70))
            async let two = field.completion("two") { LinkReader(queue: .main, read: { _ in }).begin($0) }
            try await field.cancelSheet()
            _ = try await two
            return true
        }
        #expect(failure == nil, "\(failure?.description ?? "passed")")
    }

    @Test func `A session that searches again and again reaches its limit a minute after it began`() async throws {
        let runs = Locked(0)
        let failure = try await Self.failure(.losses, invariants: [.errorShown]) { field -> String in
            let isFirst = runs.withLock { runs in
                runs += 1
                return runs == 1
            }
            if isFirst { return try await field.completion("read") { LinkReader(queue: .main).begin($0) }.get() }
            let delegate = Looker()
            let session = NFCNDEFReaderSession(delegate: delegate, queue: .main, invalidateAfterFirstRead: false)
            session.begin()
            for _ in 0..<4 {
                await field.wait(for: .seconds(10))
                session.restartPolling()
            }
            await field.wait(for: .seconds(30))
            withExtendedLifetime(delegate) {}
            throw CocoaError(.featureUnsupported)
        }
        #expect(runs.withLock { $0 } > 1 && failure == nil, "\(failure?.description ?? "passed")")
    }

    @Test func `A session that is never released is found, and one that the next replaces is not`() async throws {
        let shared = LinkClient(CorrectClient.link)
        #expect(try await Self.failure(.cancels) { _ in try await shared.scan() } == nil)
        let keeper = Keeper()
        let failure = try await Self.failure(.cancels) { _ -> String in
            let client = LinkClient(CorrectClient.link)
            keeper.keep(client)
            return try await client.scan()
        }
        #expect(failure?.invariant == Invariant.nothingLeaks.name)
        #expect(failure?.finding.contains("the delegate LinkClient") == true)
    }

    @Test func `What only the last run keeps is found by one more run, which is not counted`() async throws {
        let (keeper, runs) = (Keeper(), Locked(0))
        let failure = try await Self.failure(.replay("cancel@1"), invariants: [.nothingLeaks]) { _ -> String? in
            let client = LinkClient(CorrectClient.link)
            let number = runs.withLock { runs in
                runs += 1
                return runs
            }
            if number == 2 { keeper.keep(client) }
            return try? await client.scan()
        }
        #expect(failure?.invariant == Invariant.nothingLeaks.name && failure?.replay == "cancel@1")
        #expect(failure?.runs == 2 && runs.withLock { $0 } == 3)
        #expect(failure?.finding.hasPrefix("the delegate LinkClient was not freed: ") == true)
    }

    @Test(arguments: [2, 6]) func `What a failing run keeps, or the last of the simpler ones, is another failure`(
        number: Int
    ) async throws {
        let (keeper, runs) = (Keeper(), Locked(0))
        let mine = Invariant("mine") { _ in runs.withLock { $0 } == 2 ? "it is not" : nil }
        let failure = try await Self.failure(.replay("nak@1+flip@2"), invariants: [mine, .nothingLeaks]) {
            _ -> String? in
            let client = LinkClient(CorrectClient.link)
            let isKept = runs.withLock { runs in
                runs += 1
                return runs == number
            }
            if isKept { keeper.keep(client) }
            return try? await client.scan()
        }
        #expect(failure?.invariant == "mine" && failure?.replay == "nak@1+flip@2" && failure?.runs == 6)
        #expect(failure?.finding.hasPrefix("it is not; not in every run") == true)
    }

    @Test func `The simplest line behind which something is kept is told`() async throws {
        let keeper = Keeper()
        let failure = try await Self.failure(.replay("nak@1+flip@2"), invariants: [.nothingLeaks]) {
            field -> String? in
            let client = LinkClient(CorrectClient.link)
            // Only in a run with faults.
            if field.virtual?.countsSinceArmed != nil { keeper.keep(client) }
            return try? await client.scan()
        }
        #expect(failure?.invariant == Invariant.nothingLeaks.name && failure?.replay == "loss@2")
        #expect(failure?.runs == 4)
    }

    @Test func `Where nothing looks for what is kept there is no further run`() async throws {
        let (keeper, runs) = (Keeper(), Locked(0))
        let report = try await explore(.replay("cancel@1"), near: Self.link, invariants: []) { _ in
            runs.withLock { $0 += 1 }
            let client = LinkClient(CorrectClient.link)
            keeper.keep(client)
            _ = try? await client.scan()
        }
        #expect(report.runs == 2 && runs.withLock { $0 } == 2)
    }

    @Test func `Of what is never released each kind is named once`() async throws {
        let keeper = Keeper()
        let failure = try await Self.failure(.replay("flip@1"), invariants: [.nothingLeaks]) { field -> Bool in
            _ = try? await field.completion("read") { LinkReader(queue: .main).begin($0) }.get()
            for _ in 0..<2 {
                let delegate = Nobody()
                let session = NFCNDEFReaderSession(delegate: delegate, queue: .main, invalidateAfterFirstRead: false)
                keeper.keep(delegate)
                keeper.keep(session)
            }
            return true
        }
        #expect(
            failure?.finding
                == "a session, the delegate Nobody were not freed: look for a reference cycle, such as a closure that holds its owner"
        )
        #expect(failure?.runs == 2 && failure?.replay == nil)
    }

    @Test func `Handlers of one name are called once each, and each is counted for itself`() async throws {
        let fine = try await Self.failure(.losses, invariants: [.completesOnce]) { field in
            for _ in 0..<2 { _ = try await field.completion { LinkReader(queue: .main).begin($0) } }
            field.completed("by hand")
            return true
        }
        #expect(fine == nil)
        let wrong = try await Self.failure(.losses, invariants: [.completesOnce]) { field in
            _ = try await field.completion("read") { (done: (Int) -> Void) in done(1) }
            _ = try await field.completion("read") { (done: (Int) -> Void) in for number in 0..<2 { done(number) } }
            return true
        }
        #expect(wrong?.finding.contains("read 2 was called 2 times") == true, "\(wrong?.finding ?? "none")")
    }

    @Test func `A handler that is not called before the flow ends is found`() async throws {
        let failure = try await Self.failure(.losses, invariants: [.completesOnce]) { field -> String in
            Task { _ = try? await field.completion("never") { (_: @escaping @Sendable (Int) -> Void) in } }
            await field.settle()
            return try await field.completion("read") { LinkReader(queue: .main).begin($0) }.get()
        }
        #expect(failure?.finding == "never was called 0 times")
        #expect(failure?.runs == 1)
    }

    @Test func `Calls that the test counts itself are held to one too`() async throws {
        let wrong = try await Self.failure(.losses, invariants: [.completesOnce]) { field in
            for _ in 0..<3 { field.completed("by hand") }
            return true
        }
        #expect(wrong?.finding.contains("by hand was called 3 times") == true, "\(wrong?.finding ?? "none")")
    }

    @Test func `Of several handlers that are called twice the first by its name is told`() async throws {
        let wrong = try await Self.failure(.losses, invariants: [.completesOnce]) { field in
            for name in ["b", "a", "c", "a", "b", "c"] { field.completed(name) }
            return true
        }
        #expect(wrong?.finding == "a was called 2 times")
    }

    @Test func `What never happened is counted in the report`() async throws {
        let runs = Locked(0)
        let report = try await explore(.losses, near: Self.link, invariants: []) { field in
            let number = runs.withLock { runs in
                defer { runs += 1 }
                return runs
            }
            // Every third run is over before anything can happen.
            if number % 3 == 1 { return }
            _ = try await field.completion("read") { LinkReader(queue: .main).begin($0) }.get()
        }
        let losses = try #require(report.attempts.first)
        #expect(report.attempts.count == 1 && losses.runs == report.runs - 1)
        #expect(losses.runs - losses.happened == (report.runs + 1) / 3)
        #expect(report.description.contains("Tried: \(losses.runs) losses (\((report.runs + 1) / 3) never happened)."))
    }

    @Test func `What no run had anything to show for is in the report`() async throws {
        let report = try await explore(.cancels, near: Self.link) { field in
            _ = try await field.completion("read") { LinkReader(queue: .main).begin($0) }.get()
        }
        #expect(
            report.unchecked.map(\.description) == [
                "no message is lost: no NDEF was written", "an error is always shown: the flow never failed by itself",
                "the memory is intact: no memory was written",
                "the result is the same: the flow returned no value in a run with faults",
            ]
        )
        #expect(report.description.contains("Not checked: no message is lost: no NDEF was written; "))
    }
}

/// Writes two blocks, and does not look at what comes of it.
private final class BlockWriter: TagClient, @unchecked Sendable {
    init() { super.init(.iso15693, bug: .none) }

    @MainActor override func work(with tag: NFCTag) async throws -> String {
        guard case .iso15693(let tag) = tag else { throw Failure.wrongTag }
        for (block, bytes) in [(UInt8(20), Data([1, 2, 3, 4])), (21, Data([5, 6, 7, 8]))] {
            try? await tag.writeSingleBlock(
                requestFlags: [.highDataRate, .address],
                blockNumber: block,
                dataBlock: bytes
            )
        }
        return "written"
    }
}

/// Keeps references.
private final class Keeper: @unchecked Sendable {
    // Sendable because of its lock.
    private let lock = NSLock()
    private var objects: [AnyObject] = []

    func keep(_ object: AnyObject) { lock.withLock { objects.append(object) } }
}

/// A delegate that takes tags, and does nothing with them.
private final class Looker: NSObject, NFCNDEFReaderSessionDelegate {
    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {}
    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}
    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {}
}

/// A delegate that does nothing.
final class Nobody: NSObject, NFCNDEFReaderSessionDelegate {
    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}
    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {}
}
