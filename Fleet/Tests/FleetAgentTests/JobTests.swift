// SPDX-License-Identifier: Apache-2.0
import FleetAgent
import FleetModel
import FleetSpool
import FleetTestSupport
import NDEF
import TagLink
import TagProtocols
import Testing
import VirtualTags

@Suite("Jobs at a node", .enabled(if: hasBroker, Comment(rawValue: TestBroker.missing)), .timeLimit(.minutes(3)))
struct JobTests {
    let folder: TestFolder
    let topic = "opencorenfc/kiosk-7/bridge/job"

    init() throws { folder = try TestFolder() }

    func job(_ id: String, _ work: Job.Work, seconds: Double = 60, reader: String? = nil) -> Job {
        Job(
            id: id,
            node: FleetName(slugOf: "kiosk-7"),
            deadline: Timestamp.now + Int64(seconds * 1000),
            reader: reader.map { FleetName(slugOf: $0) },
            work: work
        )
    }

    /// Sends a job and waits until the journal has it.
    func send(_ job: Job, _ client: TestClient, _ node: TestNode) async throws {
        try await client.wait("the node") { $0.last("opencorenfc/kiosk-7/bridge/state") == "online" }
        await client.publish(topic, job.json)
        for _ in 0..<4000 {
            if try await node.spool.openJobs().contains(where: { $0.job.id == job.id }) { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw TestProblem("The job \(job.id) was not taken.")
    }

    @Test("Flood of 2000 jobs: tags are still read, at most 1000 jobs are kept, and the agent stops within 30 s")
    func flood() async throws {
        let broker = try await TestBroker(["max_queued_messages 0", "max_inflight_messages 0"], folder: folder)
        let (client, sender) = (TestClient(), TestClient())
        try await client.connect(broker, to: ["opencorenfc/+/+/event", "opencorenfc/kiosk-7/bridge/state"])
        try await sender.connect(broker, to: ["nothing"])
        let node = try await TestNode(broker.address, folder: folder.path + "/state")
        try await client.wait("the node") { $0.last("opencorenfc/kiosk-7/bridge/state") == "online" }
        for number in 0..<2000 { await sender.publish(topic, job("j\(number)", .lock, reader: "entrance").json) }
        node.field.bring(TestTags.ntag213(1))
        try await client.wait("the tag") { $0.events.contains { $0["type"]?.text == EventKind.tag.type } }
        try await client.wait("a reason") { $0.events.contains { $0["data"]?["code"] == "too-many-jobs" } }
        #expect(try await node.spool.openJobs().count <= 1000)
        let end = ContinuousClock.now
        await node.stop()
        // The program itself waits for less than two seconds. Here other tests work at the same time.
        #expect(ContinuousClock.now - end < .seconds(30))
        for client in [client, sender] { await client.stop() }
    }

    /// The message that a tag has.
    func message(of tag: VirtualType2Tag) async throws -> [UInt8] {
        let field = VirtualField()
        field.bring(tag)
        defer { field.remove(tag) }
        let link = try #require(field.link(for: .nfcA))
        let target = try #require(try await NFCAActivation(link: link).activateAll().last)
        return try await Type2Tag(target: target, link: link).readNDEF()
    }

    @Test("Job that names a secret that the node lacks: refused at once with no-secret, without a tag")
    func noSecret() async throws {
        let broker = try await TestBroker()
        let client = TestClient()
        try await client.connect(broker)
        let node = try await TestNode(broker.address, folder: folder.path + "/state")
        try await client.wait("the node") { $0.last("opencorenfc/kiosk-7/bridge/state") == "online" }
        await client.publish(topic, job("j1", .protect(.named(FleetName(slugOf: "posters")))).json)
        let outcome = try #require(try await client.wait(for: .outcome).first?["data"])
        #expect(outcome["outcome"] == "refused")
        #expect(outcome["code"] == "no-secret")
        await node.stop()
        await client.stop()
    }

    @Test("A link with a serial number is written to one tag, once, although the job comes three times")
    func writesOnce() async throws {
        let broker = try await TestBroker()
        let client = TestClient()
        try await client.connect(broker)
        let node = try await TestNode(broker.address, folder: folder.path + "/state")
        let write = job("j1", .write(.link("https://example.com/{serial}?u={uid}"), locks: false))
        try await send(write, client, node)
        await client.publish(topic, write.json)
        let (one, two) = (TestTags.ntag213(1), TestTags.ntag213(2))
        node.field.bring(one)
        let outcome = try #require(try await client.wait(for: .outcome).first)["data"]
        #expect(outcome?["outcome"] == "done")
        #expect(outcome?["tag_state"] == "written")
        #expect(outcome?["serial"] == 1)
        #expect(outcome?["uid"] == "04e15a0171fa80")
        #expect(outcome?["at"] == "entrance")
        node.field.remove(one)
        await client.publish(topic, write.json)
        let repeated = try await client.wait(for: .outcome, count: 2)[1]["data"]
        #expect(repeated?["repeated"] == true)
        #expect(repeated?["serial"] == 1)
        node.field.bring(two)
        try await client.wait(for: .tag, count: 2)
        await node.stop()
        let expected = try NDEFMessage([.uri("https://example.com/1?u=04e15a0171fa80")]).encoded()
        #expect(try await message(of: one) == expected)
        #expect(try await message(of: two).isEmpty)
        // The tag's own event came before the outcome.
        let events = await client.events.compactMap { $0["type"]?.text }
        #expect(events.prefix(2) == [EventKind.tag.type, EventKind.outcome.type])
        await client.stop()
    }

    @Test("Tag lost after any write of a job: the job is finished when the tag is back", arguments: 0..<8)
    func tornAndBack(_ writes: Int) async throws {
        let broker = try await TestBroker()
        let client = TestClient()
        try await client.connect(broker)
        let node = try await TestNode(broker.address, folder: folder.path + "/state")
        try await send(job("j1", .write(.link("https://example.com/{serial}"), locks: false)), client, node)
        let old = try NDEFMessage([.uri("https://example.com/old/message")]).encoded()
        let tag = TestTags.ntag213(1, message: old)
        // The field loses the tag after so many writes. When it is back, it is whole again.
        node.field.arm(.tear(afterWrite: writes))
        node.field.bring(tag)
        for _ in 0..<300 where node.field.tags.contains(where: { $0 === tag }) {
            if await !client.events.filter({ $0["type"]?.text == EventKind.outcome.type }).isEmpty { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        node.field.arm(FaultPlan())
        node.field.bring(tag)
        let outcomes = try await client.wait(for: .outcome)
        #expect(outcomes.first?["data"]?["outcome"] == "done")
        #expect(outcomes.first?["data"]?["serial"] == 1)
        #expect(try await message(of: tag) == NDEFMessage([.uri("https://example.com/1")]).encoded())
        await node.stop()
        await client.stop()
    }

    @Test("Tag lost during a write: the outcome is tag-lost with state uncertain, and no other tag is written")
    func lost() async throws {
        let broker = try await TestBroker()
        let client = TestClient()
        try await client.connect(broker)
        let node = try await TestNode(broker.address, folder: folder.path + "/state")
        try await send(job("j1", .write(.link("https://example.com/new"), locks: false), seconds: 10), client, node)
        let tag = TestTags.ntag213(1)
        node.field.arm(.tear(afterWrite: 1))
        node.field.bring(tag)
        try await waitWhile(!node.field.tags.isEmpty)
        node.field.arm(FaultPlan())
        let other = TestTags.ntag213(2)
        node.field.bring(other)
        let outcome = try #require(try await client.wait(for: .outcome).first)["data"]
        #expect(outcome?["outcome"] == "tag-lost")
        #expect(outcome?["tag_state"] == "uncertain")
        #expect(outcome?["uid"] == "04e15a0171fa80")
        await node.stop()
        #expect(try await message(of: other).isEmpty)
        await client.stop()
    }

    @Test("Job that has begun: cancelling is refused, and its outcome reports what the first attempt left on the tag")
    func begun() async throws {
        let broker = try await TestBroker()
        let client = TestClient()
        try await client.connect(broker)
        let node = try await TestNode(broker.address, folder: folder.path + "/state")
        try await send(job("j1", .write(.link("https://example.com/new"), locks: false), seconds: 8), client, node)
        let tag = TestTags.ntag213(1, message: try NDEFMessage([.uri("https://example.com/old")]).encoded())
        node.field.arm(.tear(afterWrite: 1))
        node.field.bring(tag)
        try await waitWhile(!node.field.tags.isEmpty)
        await client.publish(topic, job("j2", .cancel(job: "j1")).json)
        let refusal = try #require(try await client.wait(for: .outcome).first)["data"]
        #expect(refusal?["job"] == "j2")
        #expect(refusal?["code"] == "bad-job")
        // It is back for moments, and lost again before anything is written.
        for exchange in (5...12).reversed() {
            node.field.arm(.loss(atExchange: exchange) + .tear(afterWrite: 0))
            node.field.bring(tag)
            try await waitWhile(!node.field.tags.isEmpty)
        }
        let outcome = try await client.wait(for: .outcome, count: 2)[1]["data"]
        #expect(outcome?["job"] == "j1")
        #expect(outcome?["outcome"] == "tag-lost")
        #expect(outcome?["tag_state"] == "uncertain")
        await node.stop()
        await client.stop()
    }

    @Test("Restart after a job has begun: the job waits for its tag and keeps its serial number")
    func restarted() async throws {
        let broker = try await TestBroker()
        let client = TestClient()
        try await client.connect(broker)
        let state = folder.path + "/state"
        let write = job("j1", .write(.link("https://example.com/{serial}"), locks: true))
        let tag = TestTags.ntag213(1)
        // What an agent leaves that is killed after it has begun.
        do {
            let spool = try Spool(folder: state, node: write.node)
            _ = try await spool.accept(write)
            let serial = try await spool.begin(
                "j1",
                at: FleetName(slugOf: "entrance"),
                with: tag.identifier,
                takingSerial: true
            )
            #expect(serial == 1)
        }
        let node = try await TestNode(broker.address, folder: state)
        let other = TestTags.ntag213(2)
        node.field.bring(other)
        try await client.wait(for: .tag)
        node.field.remove(other)
        node.field.bring(tag)
        let outcome = try #require(try await client.wait(for: .outcome).first)["data"]
        #expect(outcome?["outcome"] == "done")
        #expect(outcome?["tag_state"] == "locked")
        #expect(outcome?["serial"] == 1)
        await node.stop()
        #expect(try await message(of: other).isEmpty)
        #expect(try await message(of: tag) == NDEFMessage([.uri("https://example.com/1")]).encoded())
        await client.stop()
    }

    @Test("Job sent while the node is away: done when the node is back and its reader appears")
    func away() async throws {
        let broker = try await TestBroker()
        let client = TestClient()
        try await client.connect(broker)
        let state = folder.path + "/state"
        do {
            let node = try await TestNode(broker.address, folder: state)
            try await client.wait("the node") { $0.last("opencorenfc/kiosk-7/bridge/state") == "online" }
            await node.stop()
        }
        await client.publish(topic, job("j1", .allow(.init(.off)), reader: "entrance").json)
        try await client.wait("an acknowledgement") { $0.acknowledgements > 0 }
        // So long that the job could come before.
        let node = try await TestNode(broker.address, folder: state, readerDelay: .milliseconds(300))
        #expect(try await client.wait(for: .outcome)[0]["data"]?["outcome"] == "done")
        await node.stop()
        await client.stop()
    }

    @Test("Protect job: protects the tag; the same password again is done, another one is refused")
    func protects() async throws {
        let broker = try await TestBroker()
        let client = TestClient()
        try await client.connect(broker)
        let node = try await TestNode(broker.address, folder: folder.path + "/state")
        let tag = TestTags.ntag213(1)
        let works: [(String, Job.Work, String)] = [
            ("j1", .protect(.bytes(password: [1, 2, 3, 4], acknowledgement: [5, 6])), "done"),
            ("j2", .protect(.bytes(password: [1, 2, 3, 4], acknowledgement: [5, 6])), "done"),
            ("j3", .protect(.bytes(password: [9, 9, 9, 9], acknowledgement: [5, 6])), "refused"),
            ("j4", .write(.link("https://example.com"), locks: false), "refused"),
        ]
        for (index, (id, work, expected)) in works.enumerated() {
            try await send(job(id, work), client, node)
            node.field.bring(tag)
            let outcome = try await client.wait(for: .outcome, count: index + 1)[index]["data"]
            #expect(outcome?["outcome"] == .string(expected), "\(id): \(outcome?.line ?? "")")
            if expected == "refused" { #expect(outcome?["tag_state"] != "written") }
            node.field.remove(tag)
            try await client.wait(for: .removed, count: index + 1)
        }
        await node.stop()
        await client.stop()
    }

    @Test("Jobs that can't be done: message-too-long, read-only, expired, unknown-reader or no-indicator")
    func refusals() async throws {
        let broker = try await TestBroker()
        let client = TestClient()
        try await client.connect(broker)
        let node = try await TestNode(broker.address, folder: folder.path + "/state")
        let tag = TestTags.ntag213(1)
        let long = "https://example.com/" + String(repeating: "x", count: 300)
        let works: [(String, Job.Work, String, String?)] = [
            ("j1", .write(.link(long), locks: false), "refused", "message-too-long"), ("j2", .lock, "done", nil),
            ("j3", .write(.link("https://example.com"), locks: false), "refused", "read-only"),
        ]
        for (index, (id, work, expected, code)) in works.enumerated() {
            try await send(job(id, work), client, node)
            node.field.bring(tag)
            let outcome = try await client.wait(for: .outcome, count: index + 1)[index]["data"]
            #expect(outcome?["outcome"] == .string(expected))
            #expect(outcome?["code"]?.text == code)
            if code != nil { #expect(outcome?["tag_state"] == "unchanged") }
            node.field.remove(tag)
            try await client.wait(for: .removed, count: index + 1)
        }
        await client.publish(topic, job("j4", .lock, seconds: 0.3).json)
        #expect(try await client.wait(for: .outcome, count: 4)[3]["data"]?["outcome"] == "expired")
        await client.publish(topic, job("j5", .lock, reader: "nowhere").json)
        #expect(try await client.wait(for: .outcome, count: 5)[4]["data"]?["code"] == "unknown-reader")
        await client.publish(topic, job("j6", .indicate(.attention)).json)
        #expect(try await client.wait(for: .outcome, count: 6)[5]["data"]?["code"] == "no-indicator")
        await node.stop()
        await client.stop()
    }

    @Test("Cancel job: ends a waiting job as cancelled. Allow job: tag events say whether the tag is allowed")
    func cancelAndAllow() async throws {
        let broker = try await TestBroker()
        let client = TestClient()
        try await client.connect(broker)
        let node = try await TestNode(broker.address, folder: folder.path + "/state")
        try await send(job("j1", .lock), client, node)
        await client.publish(topic, job("j2", .cancel(job: "j1")).json)
        let outcomes = try await client.wait(for: .outcome, count: 2)
        #expect(outcomes.compactMap { $0["data"]?["job"]?.text } == ["j1", "j2"])
        #expect(outcomes[0]["data"]?["code"] == "cancelled")
        await client.publish(
            topic,
            job("j3", .allow(.init(.replace, uids: [[0x04, 0xE1, 0x5A, 1, 0x71, 0xFA, 0x80]]))).json
        )
        try await client.wait(for: .outcome, count: 3)
        node.field.bring(TestTags.ntag213(1))
        #expect(try await client.wait(for: .tag)[0]["data"]?["allowed"] == true)
        node.field.bring(TestTags.ntag213(2))
        #expect(try await client.wait(for: .tag, count: 2)[1]["data"]?["allowed"] == false)
        await node.stop()
        await client.stop()
    }

    @Test("Node with a key: does signed jobs only, and answers about ten of a hundred unsigned ones")
    func signed() async throws {
        let broker = try await TestBroker()
        let client = TestClient()
        try await client.connect(broker)
        let key = SigningKey()
        let node = try await TestNode(broker.address, folder: folder.path + "/state") {
            $0.keys = JobKeys(["ops": key.publicKey])
        }
        try await client.wait("the node") { $0.last("opencorenfc/kiosk-7/bridge/state") == "online" }
        await client.publish(topic, job("j1", .allow(.init(.off))).json)
        #expect(try await client.wait(for: .outcome)[0]["data"]?["code"] == "unsigned")
        await client.publish(topic, JobSigner(name: "ops", key: key).sign(job("j2", .allow(.init(.off)))))
        #expect(try await client.wait(for: .outcome, count: 2)[1]["data"]?["outcome"] == "done")
        for number in 0..<100 { await client.publish(topic, job("n\(number)", .lock).json) }
        await client.publish(topic, JobSigner(name: "ops", key: key).sign(job("j3", .allow(.init(.off)))))
        try await client.wait("the last outcome") { client in
            client.events.contains { $0["data"]?["job"]?.text == "j3" }
        }
        // Ten refusals, two jobs that were done, and perhaps the number of the other refusals.
        #expect(await client.events.count <= 13)
        await node.stop()
        await client.stop()
    }
}
