// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import Testing

/// A tag that is lost, and a session or task that ends, at every exchange of a flow.
@Suite(.timeLimit(.minutes(10))) struct LossTests {
    // MARK: The tag is lost

    @Test func `Tag lost at any exchange: every completion is called once, in order, and with error 100 from then on`()
        async throws
    {
        let steps = ["connect", "query", "read", "write", "read again", "lock", "all"].map { "called: \($0)" }
        let lostOnce = Invariant("each answer after the loss is error 100") { run in
            let notes = run.trace.entries.compactMap { if case .note(let text) = $0.event { text } else { nil } }
            let called = notes.filter { $0.hasPrefix("called: ") }
            guard !called.isEmpty else { return nil }
            if called != steps { return "the order was \(called)" }
            let codes = notes.filter { $0.hasPrefix("code ") }
            if run.error == nil { return codes.isEmpty ? nil : "there were \(codes)" }
            let after = notes.drop { !$0.hasPrefix("code ") }.filter { $0.hasPrefix("called: ") && $0 != steps[6] }
            // A tag that leaves while it is written or locked gives 401.
            let areRight =
                codes.dropFirst().allSatisfy { $0 == "code 100" } && ["code 100", "code 401"].contains(codes.first)
            return areRight && codes.count == after.count + 1 ? nil : "it was \(codes)"
        }
        let report = try await explore(
            .losses + .tears,
            near: .product("NTAG213", holding: .uri(TestTag.link)),
            invariants: [.neverBricked, .sessionEnds, .completesOnce, lostOnce]
        ) { field in
            // If the tag is lost before it is found, the session runs until its minute is over.
            let scene = try await NDEFScene(connects: false)
            let (session, tag) = (scene.session, scene.tag)
            @Sendable func note(_ step: String, _ error: (any Error)?) {
                field.completed(step)
                if error != nil { field.note("code \(code(of: error))") }
            }
            session.connect(to: tag) { note("connect", $0) }
            tag.queryNDEFStatus { note("query", $2) }
            tag.readNDEF { note("read", $1) }
            tag.writeNDEF(TestTag.message("https://example.com/a/longer/path")) { note("write", $0) }
            tag.readNDEF { note("read again", $1) }
            let failure = try await field.completion("all") { done in
                tag.writeLock { error in
                    note("lock", error)
                    done(error as? NFCReaderError)
                }
            }
            session.invalidate()
            #expect(await scene.delegate.end()?.errorCode == 200)
            if let failure { throw failure }
        }
        // One loss is before the connection.
        #expect(report.exchanges > 10 && report.runs == 1 + report.exchanges + 1 + 3 * report.writes)
    }

    /// A kind of tag, and what is sent to it.
    struct Kind: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var polling: NFCTagReaderSession.PollingOption
        var commands: [String]
    }

    static let kinds = [
        Kind(testDescription: "NTAG215", polling: .iso14443, commands: ["60", "3004", "a26001020304", "3060"]),
        // A read, a write and a read of several blocks, without their flags.
        Kind(
            testDescription: "ICODE SLIX2",
            polling: .iso15693,
            commands: ["2b", "2000", "213c01020304", "233807"]
        ),
        // Read and write the block 0C of a service.
        Kind(
            testDescription: "FeliCa Lite-S",
            polling: .iso18092,
            commands: ["06|010b0001800c", "08|01090001800c0102030405060708090a0b0c0d0e0f10", "06|010b0001800c"]
        ),
        Kind(
            testDescription: "generic Type 4",
            polling: .iso14443,
            commands: ["00a4040007d276000085010100", "00a4000c02e103", "00b000000f"]
        ),
    ]

    /// Sends a command in hex, with `|` for the IDm, to a tag of any kind.
    private static func send(_ hex: String, to tag: NFCTag, _ done: @escaping @Sendable ((any Error)?) -> Void) {
        switch tag {
        case .miFare(let tag): tag.sendMiFareCommand(commandPacket: Data(bytes(hex))) { done($1) }
        case .iso15693(let tag):
            let packet = bytes(hex)
            let parameters = Data(tag.identifier.reversed() + packet.dropFirst())
            tag.sendRequest(requestFlags: 0x22, commandCode: Int(packet[0]), data: parameters) { result in
                if case .failure(let error) = result { done(error) } else { done(nil) }
            }
        case .feliCa(let tag):
            let packet = bytes(hex.replacing("|", with: tag.currentIDm.hexText()))
            tag.sendFeliCaCommand(commandPacket: Data(packet)) { done($1) }
        case .iso7816(let tag):
            guard let apdu = NFCISO7816APDU(data: Data(bytes(hex))) else { return done(OtherKind()) }
            tag.sendCommand(apdu: apdu) { done($3) }
        }
    }

    @Test(arguments: kinds)
    func `Tag lost at any exchange of a command: one completion, with error 100, or 102 for ISO 7816 and ISO 15693`(
        _ kind: Kind
    ) async throws {
        let app = AppProperties(
            infoPlist: [
                "NFCReaderUsageDescription": "Tags are read.",
                "com.apple.developer.nfc.readersession.felica.systemcodes": ["88B4"],
                "com.apple.developer.nfc.readersession.iso7816.select-identifiers": ["D2760000850101"],
            ]
        )
        let fails = Invariant("an error is that of a lost tag, or of an invalid answer") { run in
            // A card whose SELECT is lost while it is found is of another kind.
            guard let error = run.error, !(error is SessionEnded), !(error is OtherKind) else { return nil }
            let code = code(of: error)
            // A vicinity tag answers with an error of its own. A card that has left gives 102.
            let allowed = ["generic Type 4", "ICODE SLIX2"].contains(kind.testDescription) ? [100, 102] : [100]
            return allowed.contains(code) ? nil : "it was \(error)"
        }
        let report = try await explore(
            .everyLoss,
            near: .product(kind.testDescription, holding: .uri(TestTag.link)),
            app: app,
            invariants: [.neverBricked, .sessionEnds, .completesOnce, .errorShown, fails]
        ) { field in
            let scene = try await TagScene(kind.polling, connects: false)
            defer { withExtendedLifetime(scene) {} }
            do {
                try await scene.session.connect(to: scene.tag)
                for (index, command) in kind.commands.enumerated() {
                    let error: (any Error)? = try await field.completion("command \(index + 1)") {
                        Self.send(command, to: scene.tag, $0)
                    }
                    if let error { throw error }
                }
                scene.session.invalidate()
            } catch {
                scene.session.invalidate(errorMessage: "Try again.")
                throw error
            }
        }
        let commands = report.first.completions.count
        #expect(commands >= 3 && report.exchanges > commands)
        #expect(report.writes == (kind.testDescription == "generic Type 4" ? 0 : 1))
    }

    @Test func `Tag swapped between connecting and writing: error 401, and the new tag is not written to`()
        async throws
    {
        try await withField(.product("NTAG213", holding: .uri(TestTag.link))) { field in
            let other = TestTag.ntag213("https://example.com/other", serial: 9)
            let before = other.contents.memory
            let scene = try await NDEFScene()
            #expect(try await scene.tag.queryNDEFStatus().0 == .readWrite)
            try field.inject(.effect(.swap(other), atExchange: 0))
            #expect(await code { try await scene.tag.writeNDEF(TestTag.message()) } == 401)
            #expect(!scene.tag.isAvailable && other.contents.memory == before)
            scene.session.invalidate()
        }
    }

    // MARK: The session or the task ends

    /// Connects, asks, writes and reads, with something happening at a moment of it.
    ///
    /// - Parameter moment: when, from the first step on; nil for nothing.
    /// - Returns: the code of each step, 0 for success; and a moment within each exchange.
    private static func flow(
        at moment: Duration? = nil,
        _ event: @escaping @Sendable (NFCNDEFReaderSession, Task<[Int], Never>) -> Void = { _, _ in }
    ) async throws -> (codes: [Int], moments: [Duration]) {
        try await withField(.product("NTAG213", holding: .uri(TestTag.link))) { field in
            let scene = try await NDEFScene(connects: false)
            let (session, tag) = (scene.session, scene.tag)
            let (start, go) = AsyncStream<Void>.makeStream()
            let work = Task { () -> [Int] in
                // The event may be the end of this task: it is set before the first step.
                await Task.detached { for await _ in start {} }.value
                return await [
                    code { try await session.connect(to: tag) }, code { try await tag.queryNDEFStatus() },
                    code { try await tag.writeNDEF(TestTag.message("https://example.com/longer/path")) },
                    code { try await tag.readNDEF() },
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
            #expect(await scene.delegate.end()?.errorCode == 200)
            return (codes, moments)
        }
    }

    @Test func `Session invalidated at any exchange: each command is answered once, with error 103 from then on`()
        async throws
    {
        let moments = try await Self.flow().moments
        #expect(moments.count > 10)
        for moment in moments {
            let (codes, exchanges) = try await Self.flow(at: moment) { session, _ in session.invalidate() }
            #expect(codes.count == 4 && codes.allSatisfy { [0, 103].contains($0) } && codes.last == 103, "\(moment)")
            #expect(exchanges == moments.filter { $0 <= moment }, "\(moment)")
        }
    }

    @Test func `Task cancelled at any exchange: every command is still sent and succeeds`() async throws {
        let moments = try await Self.flow().moments
        for moment in moments {
            let (codes, exchanges) = try await Self.flow(at: moment) { _, work in work.cancel() }
            #expect(codes == [0, 0, 0, 0] && exchanges == moments, "\(moment)")
        }
    }

}
