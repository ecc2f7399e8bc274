// SPDX-License-Identifier: Apache-2.0
import FleetModel
import FleetSpool
import FleetTestSupport
import TagLink
import TagProtocols
import Testing

@testable import FleetAgent  // what a station reports is internal

@Suite("The events of a reader", .timeLimit(.minutes(1)))
struct StationLogTests {
    let folder: TestFolder
    let uid: [UInt8] = [4, 1, 2, 3]

    init() throws { folder = try TestFolder() }

    /// A node without a broker, and what a station of its reader asks of it.
    private func start() async throws -> (TestNode, StationHandler) {
        let address = BrokerAddress(host: "127.0.0.1", port: 9, usesTLS: false)
        let node = try await TestNode(address, folder: folder.path + "/state")
        let reader = try #require(await node.agent.states[node.reader]?.reader)
        let jobs = JobDesk(JobDesk.Parts(spool: node.spool)) { _ in }
        return (node, StationHandler(node.agent, reader, removalDelay: .zero, jobs: jobs))
    }

    private func stored(_ node: TestNode) async throws -> [JSONValue] {
        try await node.spool.waiting(after: 0, limit: 100).map { try JSONValue(parsing: $0.payload) }
    }

    private var arrival: ReaderStation.Event {
        .arrived(TagReport(identifier: uid, technology: .nfcA), reply: { _ in })
    }

    @Test("Reader that disappears: removed events of its tags come first, then one reader-unavailable event")
    func unavailable() async throws {
        let (node, handler) = try await start()
        var log = StationLog(delay: .zero)
        // One that never worked has lost nothing.
        await log.take(.unavailable(reason: "It is not there yet."), handler) { _ in }
        await log.take(.available, handler) { _ in }
        await log.take(arrival, handler) { _ in }
        await log.take(.unavailable(reason: "It was unplugged."), handler) { _ in }
        await log.take(.unavailable(reason: "It is still away."), handler) { _ in }
        let events = try await stored(node)
        #expect(events.compactMap { $0["type"]?.text } == [EventKind.tag, .removed, .error].map { $0.type })
        let (tag, removed, error) = (events.first, events.dropFirst().first, events.last)
        #expect(removed?["data"]?["tag_event"] == tag?["id"] && removed?["subject"] == "04010203")
        #expect(error?["data"]?["code"] == "reader-unavailable")
        #expect(error?["data"]?["message"] == "It was unplugged.")
        await node.stop()
    }

    @Test("Unreadable tag: reported once, and again after it could be read in between")
    func unreadable() async throws {
        let (node, handler) = try await start()
        var log = StationLog(delay: .zero)
        let failure = ReaderStation.Event.unreadable(uid, TagError(.refused, "The tag refuses."))
        for event in [failure, failure, arrival, failure] { await log.take(event, handler) { _ in } }
        let events = try await stored(node)
        #expect(events.compactMap { $0["type"]?.text } == [EventKind.error, .tag, .error].map { $0.type })
        #expect(events.first?["data"]?["message"] == "The tag refuses.")
        #expect(events.first?["subject"] == "04010203" && events.first?["data"]?["uid"] == "04010203")
        await node.stop()
    }

    @Test("Missed tag: one check for its removal is scheduled at a time")
    func sweeps() async throws {
        let (node, handler) = try await start()
        var log = StationLog(delay: .zero)
        var delays: [Duration] = []
        await log.take(arrival, handler) { delays.append($0) }
        await log.take(.near([uid]), handler) { delays.append($0) }
        #expect(delays.isEmpty)
        await log.take(.near([]), handler) { delays.append($0) }
        await log.take(.near([]), handler) { delays.append($0) }
        // At least a millisecond, although the tag has left already.
        #expect(delays == [.milliseconds(1)])
        await log.take(.sweep, handler) { delays.append($0) }
        #expect(try await stored(node).compactMap { $0["type"]?.text } == [EventKind.tag, .removed].map { $0.type })
        await log.take(arrival, handler) { delays.append($0) }
        await log.take(.near([]), handler) { delays.append($0) }
        #expect(delays.count == 2)
        await node.stop()
    }
}
