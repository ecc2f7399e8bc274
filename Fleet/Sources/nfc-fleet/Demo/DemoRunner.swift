// SPDX-License-Identifier: Apache-2.0
import FleetMQTT
import FleetModel

/// The steps of the demo. Each step waits for the event caused by the previous step.
struct DemoRunner {
    let sandbox: DemoSandbox
    let session: FleetSession
    let json: Bool
    let isOnce: Bool
    private var round: UInt8 = 0
    private var step = Step.start
    /// The number of the latest reminder. Reminders with smaller numbers are ignored.
    private var reminder = 0
    /// How many times the demo has checked whether the job has arrived.
    private var waits = 0

    private enum Step {
        case start, ready, posterComes, posterLies, posterGoes, jobWaits, jobSent, blankComes, blankLies, blankGoes
    }

    init(sandbox: DemoSandbox, session: FleetSession, json: Bool, isOnce: Bool) {
        self.sandbox = sandbox
        self.session = session
        self.json = json
        self.isOnce = isOnce
    }

    /// Handles an event. Returns true when the demo is complete.
    mutating func take(_ event: FleetSession.Event) throws -> Bool? {
        switch event {
        case .broker(.connected):
            let topics = session.topics
            session.connection.subscribe([topics.filter("event"), topics.filter("availability")])
            wait(20)
        case .broker(.message(let message)): return try take(message)
        case .reminder(reminder): return try continueAfterWait()
        default: break
        }
        return nil
    }

    private mutating func take(_ message: MQTTMessage) throws -> Bool? {
        guard let topic = session.topics.place(of: message.topic) else { return nil }
        if topic.leaf == "availability" {
            if step == .start, message.payload == Array("online".utf8) { try begin() }
            return nil
        }
        let event = (try? JSONValue(parsing: message.payload)) ?? [:]
        Output.line(json ? ReceivedJSON.line(message.payload) : EventText.text(event, topic.node, topic.reader))
        let kind = event["type"]?.text.flatMap(EventKind.init(type:))
        switch (step, kind) {
        case (.posterComes, .tag): next(.posterLies, 1)
        case (.posterGoes, .removed): next(.jobWaits, 0.5)
        case (.blankComes, .outcome): next(.blankLies, 1)
        case (.blankGoes, .removed):
            guard !isOnce else { return true }
            next(.ready, 2)
        default: break
        }
        return nil
    }

    private mutating func begin() throws {
        Output.note("The agent of the node demo has one reader, entrance. A poster is held near the reader.")
        next(.ready, 0.2)
    }

    private mutating func continueAfterWait() throws -> Bool? {
        try sandbox.check()
        switch step {
        case .ready:
            round &+= 2
            try sandbox.tags.bring(round, link: "https://example.com/poster/\(round / 2)")
            next(.posterComes, 20)
        case .posterLies:
            sandbox.tags.remove(round)
            next(.posterGoes, 20)
        case .jobWaits:
            Output.note(
                "A job is sent: the next tag gets a link with a serial number. An empty tag is held near the reader."
            )
            try sendJob()
            next(.jobSent, 0.5)
        case .jobSent:
            // Only tags that arrive after the job get it.
            guard sandbox.hasJob("demo-\(round)") || waits >= 200 else {
                waits += 1
                wait(0.1)
                return nil
            }
            waits = 0
            try sandbox.tags.bring(round &+ 1, link: nil)
            next(.blankComes, 20)
        case .blankLies:
            sandbox.tags.remove(round &+ 1)
            next(.blankGoes, 20)
        case .start, .posterComes, .posterGoes, .blankComes, .blankGoes:
            throw FleetFailure(.refused, "no-event", "An event did not arrive within 20 seconds.")
        }
        return nil
    }

    private func sendJob() throws {
        guard let node = FleetName("demo") else { return }
        let job = Job(
            id: "demo-\(round)",
            node: node,
            deadline: Timestamp.now + 20_000,
            work: .write(.link("https://example.com/t/{serial}?u={uid}"), locks: false)
        )
        session.connection.publish(session.topics.job(node), job.json.bytes)
    }

    private mutating func next(_ step: Step, _ seconds: Double) {
        self.step = step
        wait(seconds)
    }

    private mutating func wait(_ seconds: Double) {
        reminder += 1
        session.remind(reminder, after: seconds)
    }
}
