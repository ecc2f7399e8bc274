// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCReaders
import NFCRuntime
import NFCTestKit
import SimulatorTesting
import TagLink
import Testing
import VirtualTags

/// A session whose reader, sheet and turn are those of a simulated phone.
@Suite(.timeLimit(.minutes(2))) struct `A session on the phone of a simulator` {
    private typealias Request = FakeSimulator.Request

    /// A simulator with a tag, which grants no turn by itself.
    private static func simulator(switches: String = "") -> FakeSimulator {
        let field = VirtualField()
        field.bring(VirtualType2Tag(.ntag213, uid: [0x04, 1, 2, 3, 4, 5, 6]))
        return FakeSimulator { _, request in
            if request["hello"] != nil { return ["\(FakeSimulator.greeting.dropLast())\(switches)}"] }
            return request["do"] as? String == "claim" ? [] : FakeSimulator.answers(to: request, from: field)
        }
    }

    private static func environment(_ simulator: FakeSimulator) throws -> NFCEnvironment {
        let made = MadeReader(simulator.reader)
        return NFCEnvironment(
            reader: made.reader,
            clock: ManualClock(),
            sheet: try #require(made.sheet),
            gate: made.gate,
            host: made.host,
            place: nil
        )
    }

    /// The requests that a simulator has received, after one with these members has come.
    private static func requests(_ simulator: FakeSimulator, until members: [String: String]) async throws -> [Request]
    {
        while true {
            let requests = simulator.lines.compactMap {
                try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? Request
            }
            let isThere = requests.contains { request in members.allSatisfy { request[$0.key] as? String == $0.value } }
            if isThere { return requests }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    private static func session(_ environment: NFCEnvironment) throws -> (ReaderSession, AsyncStream<String>) {
        let session = try #require(ReaderSession(environment: environment))
        let (stream, events) = AsyncStream.makeStream(of: String.self)
        session.observe { event in
            switch event {
            case .becameActive: events.yield("active")
            case .detected(let tags): events.yield("found \(tags.count)")
            case .ended(let end): events.yield("\(end)")
            }
        }
        session.alertMessage = "Hold it here."
        return (session, stream)
    }

    @Test func `It shows its sheet, waits for its turn, and gives it back when it ends`() async throws {
        let simulator = Self.simulator()
        let (session, stream) = try Self.session(Self.environment(simulator))
        var events = stream.makeAsyncIterator()
        session.begin()
        #expect(await events.next() == "active")
        var requests = try await Self.requests(simulator, until: ["do": "claim"])
        #expect(!requests.contains { ["frame", "carrier"].contains($0["do"] as? String) })
        let claim = try #require(requests.first { $0["do"] as? String == "claim" }?["id"] as? Int)
        simulator.push(#"{"id":\#(claim),"granted":true}"#)
        #expect(await events.next() == "found 1")
        #expect(!simulator.lines.contains { $0.contains("release") })
        session.invalidate(errorMessage: "No.")
        #expect(await events.next() == "userCanceled")
        requests = try await Self.requests(simulator, until: ["do": "release"])
        requests = try await Self.requests(simulator, until: ["do": "sheet", "state": "failure"])
        let sheets = requests.filter { $0["do"] as? String == "sheet" }
        #expect(sheets.compactMap { $0["state"] as? String } == ["ready", "scanning", "failure"])
        #expect(sheets.compactMap { $0["message"] as? String } == ["Hold it here.", "Hold it here.", "No."])
        #expect(sheets.compactMap { $0["shows_error_symbol"] as? Bool } == [false, false, true])
    }

    @Test func `A person cancels it on the phone, also before its turn`() async throws {
        let simulator = Self.simulator()
        let (session, stream) = try Self.session(Self.environment(simulator))
        var events = stream.makeAsyncIterator()
        session.begin()
        #expect(await events.next() == "active")
        _ = try await Self.requests(simulator, until: ["do": "claim"])
        simulator.push(#"{"event":"cancel"}"#)
        #expect(await events.next() == "userCanceled")
        _ = try await Self.requests(simulator, until: ["do": "release"])
    }

    @Test func `It ends when there is no turn to wait for any more`() async throws {
        let simulator = Self.simulator()
        let environment = try Self.environment(simulator)
        async let claim = environment.gate?.claim(for: .session, clock: environment.clock)
        _ = try await Self.requests(simulator, until: ["do": "claim"])
        simulator.end()
        #expect(await claim == nil)
    }

    @Test(
        arguments: [
            ("", []), (#","radio":false"#, [.radio]), (#","busy":true"#, [.freeReader]),
            (#","entitlement":false"#, [.entitlement]), (#","usage_text":false"#, [.usageText]),
            (
                #","radio":false,"busy":true,"entitlement":false,"usage_text":false"#,
                [.radio, .freeReader, .entitlement, .usageText]
            ),
            (#","radio":true,"busy":false,"entitlement":true,"usage_text":true"#, []),
        ] as [(String, SessionNeeds)]
    )
    func `What the phone withholds is what its switches say`(switches: String, needs: SessionNeeds) throws {
        let environment = try Self.environment(Self.simulator(switches: switches))
        #expect(environment.host?.withheld == needs)
    }

    @Test func `What happens in it is on the phone's timeline`() async throws {
        let simulator = Self.simulator()
        let host = try #require(try Self.environment(simulator).host)
        host.note(.began("NFCNDEFReaderSession"), of: 3)
        host.note(.restarted, of: 3)
        host.note(.callback(name: "didDetect", detail: "1 tag"), of: 4)
        host.note(.ended("It is over."), of: 3)
        let events = try await Self.requests(simulator, until: ["do": "event", "name": "invalidate"])
            .filter { $0["do"] as? String == "event" }
        #expect(events.compactMap { $0["kind"] as? String } == ["session", "session", "callback", "session"])
        #expect(events.compactMap { $0["session"] as? Int } == [3, 3, 4, 3])
        #expect(events.compactMap { $0["name"] as? String } == ["begin", "restart", "didDetect", "invalidate"])
        #expect(events.compactMap { $0["detail"] as? String } == ["NFCNDEFReaderSession", "", "1 tag", "It is over."])
    }

    // MARK: The app

    @Test func `An app is on the phone before it scans`() async throws {
        let simulator = Self.simulator()
        let environment = try Self.environment(simulator)
        while !simulator.lines.contains(where: { $0.contains("hello") }) { await Task.yield() }
        #expect(!simulator.lines.contains { $0.contains("claim") })
        withExtendedLifetime(environment) {}
    }

    @Test func `An app shows its screen on the phone, and gets what is pressed and opened there`() async throws {
        let simulator = Self.simulator()
        let phone = try #require(try Self.environment(simulator).host as? SimulatorPhone)
        let (stream, events) = AsyncStream.makeStream(of: String.self)
        phone.onPress { events.yield("press \($0)") }
        phone.onLink { events.yield("\($0) \($1) \($2)") }
        phone.show(#"{"title":"One","items":[]}"#)
        while !simulator.lines.contains(where: { $0.contains(#""screen":{"title":"One","items":[]}"#) }) {
            await Task.yield()
        }
        simulator.push(#"{"event":"press","item":"scan"}"#)
        simulator.push(
            #"{"event":"link","activity_type":"T","url":"https://a.example/","message_hex":"d101025503"}"#
        )
        var received = stream.makeAsyncIterator()
        #expect(await received.next() == "press scan")
        #expect(await received.next() == "T https://a.example/ [209, 1, 2, 85, 3]")
        phone.show(nil)
        while !simulator.lines.contains(where: { $0.contains(#""screen":null"#) }) { await Task.yield() }
    }

    @Test func `The sheet on the phone has all that a sheet shows`() async throws {
        let simulator = Self.simulator()
        let sheet = try Self.environment(simulator).sheet
        let (cancels, cancelled) = AsyncStream.makeStream(of: Void.self)
        let content = SheetContent(state: .ready, title: "Ready to Scan", message: "Near.", showsErrorSymbol: false)
        sheet.present(content) { cancelled.yield() }
        let requests = try await Self.requests(simulator, until: ["do": "sheet", "title": "Ready to Scan"])
        let shown = try #require(requests.first { $0["do"] as? String == "sheet" })
        #expect(shown["state"] as? String == "ready" && shown["message"] as? String == "Near.")
        simulator.push(#"{"event":"cancel"}"#)
        for await _ in cancels { break }
    }

    @Test func `Tags that a session has read are no news to the simulator`() async throws {
        let simulator = FakeSimulator { _, request in
            guard let id = request["id"] else { return [FakeSimulator.greeting] }
            return [#"{"id":\#(id),"granted":true}"#]
        }
        let environment = try Self.environment(simulator)
        var claim = await environment.gate?.claim(for: .session, clock: environment.clock)
        let count = simulator.lines.count
        claim?.note([[1, 2, 3]])
        #expect(claim != nil && simulator.lines.count == count)
        claim = nil
        _ = try await Self.requests(simulator, until: ["do": "release"])
    }
}
