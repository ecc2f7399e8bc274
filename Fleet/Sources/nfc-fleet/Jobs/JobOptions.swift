// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FleetMQTT
import FleetModel
import Foundation
import TextSafety

/// The options of all commands that send a job.
struct JobOptions: ParsableArguments {
    @OptionGroup var fleet: FleetOptions

    @Argument(help: "The node.", transform: NameArgument.parse)
    var node: NameArgument

    @Option(help: "The reader. Default: the first one that finds a tag.", transform: NameArgument.parse)
    var reader: NameArgument?

    @Option(help: ArgumentHelp("Only the tag with this UID.", valueName: "hex"), transform: UIDArgument.parse)
    var uid: UIDArgument?

    @Option(help: ArgumentHelp("Give up after this many seconds.", valueName: "seconds"))
    var deadline: Double = 60

    @Option(
        help: "The job's id. A job sent twice with the same id runs once. Default: random.",
        transform: NameArgument.parse
    )
    var id: NameArgument?

    @Flag(help: "Do not wait for the outcome.")
    var noWait = false

    func validate() throws {
        guard deadline > 0, deadline <= 604_800 else {
            throw ValidationError("--deadline must be more than 0 and at most 604800 seconds, which is 7 days.")
        }
    }

    /// Sends a job and prints its outcome.
    func send(_ work: Job.Work) async throws {
        let job = Job(
            id: id?.name.text ?? UUID().uuidString.lowercased(),
            node: node.name,
            deadline: Timestamp.now + Int64(deadline * 1000),
            reader: reader?.name,
            uid: uid?.bytes,
            work: work
        )
        try await JobSending(options: self, job: job).run()
    }
}

/// Sends one job and waits for its outcome.
struct JobSending {
    let options: JobOptions
    let job: Job

    /// If there is no outcome after this many seconds, the job is sent again. The node performs it only once.
    private static let resendDelay = 10.0
    /// How many seconds to wait for the node's retained state.
    private static let patience = 2.0
    /// How many seconds after the deadline to wait for the outcome of a connected node.
    private static let grace = 15.0
    /// How many seconds after the deadline to wait if the node is not connected.
    private static let graceAlone = 0.5

    private enum Reminder: Int {
        case resend, deadline, end, state
    }

    func run() async throws {
        let session = try FleetSession(options.fleet)
        let topics = session.topics
        let payload = try session.configuration.signer()?.sign(job).bytes ?? job.json.bytes
        let outcomes = topics.event(job.node, .bridge)
        // The node's retained state; nil if the node has never connected.
        var state: [UInt8]?
        var (isReady, isSent) = (false, false)
        let send = {
            guard isReady, state != nil, !isSent else { return }
            isSent = true
            session.connection.publish(topics.job(job.node), payload, number: 1)
            session.remind(Reminder.deadline.rawValue, after: options.deadline + Self.graceAlone)
            session.remind(Reminder.end.rawValue, after: options.deadline + Self.grace)
            session.remind(Reminder.resend.rawValue, after: Self.resendDelay)
        }
        defer {
            if isSent, session.isCancelled {
                Output.note("The job continues at the node. To cancel it: nfc fleet cancel \(job.node) \(job.id)")
            }
        }
        let outcome = try await session.run { event -> [UInt8]? in
            switch event {
            case .broker(.connected): session.connection.subscribe([outcomes, topics.state(job.node)])
            case .broker(.subscribed(let refused)):
                guard refused.isEmpty else {
                    throw FleetFailure(
                        .noBroker,
                        "not-allowed",
                        "The broker does not let you subscribe to \(refused.joined(separator: ", "))."
                    )
                }
                isReady = true
                // The broker sends a retained state immediately. Without one, the node would never get the job.
                session.remind(Reminder.state.rawValue, after: Self.patience)
                send()
            case .reminder(Reminder.state.rawValue) where state == nil: throw absence(nil)
            case .broker(.acknowledged) where options.noWait: return []
            case .broker(.message(let message)) where message.topic == topics.state(job.node):
                state = message.payload
                send()
                if state != Self.online {
                    Output.note("\(job.node) is offline. The job is waiting for it at the broker.")
                }
            case .broker(.message(let message)) where message.topic == outcomes && !message.isRetained:
                let value = try? JSONValue(parsing: message.payload)
                if value?["data"]?["job"]?.text == job.id { return message.payload }
            case .reminder(Reminder.resend.rawValue):
                session.connection.publish(topics.job(job.node), payload)
                session.remind(Reminder.resend.rawValue, after: Self.resendDelay)
            case .reminder(Reminder.deadline.rawValue) where state != Self.online: throw absence(state)
            case .reminder(Reminder.end.rawValue):
                throw FleetFailure(.refused, "no-outcome", "\(job.node) has not answered. See: nfc fleet nodes")
            default: break
            }
            return nil
        }
        try print(outcome)
    }

    private static let online = Array("online".utf8)

    /// Explains why a disconnected node sent no outcome.
    private func absence(_ state: [UInt8]?) -> FleetFailure {
        guard state != nil else {
            let reason = """
                The node \(job.node) has not connected to this broker, or you may not read its state. The job was not \
                sent. Check the name: nfc fleet nodes
                """
            return FleetFailure(.refused, "unknown-node", reason)
        }
        return FleetFailure(.refused, "node-offline", "\(job.node) is offline, and the deadline of the job has passed.")
    }

    private func print(_ payload: [UInt8]) throws {
        guard !payload.isEmpty else {
            let text = "Job \(job.id) was sent to \(job.node)."
            Output.line(options.fleet.json ? JSONValue.members(["ok": true, "job": .string(job.id)]).line : text)
            return
        }
        let event = (try? JSONValue(parsing: payload)) ?? [:]
        Output.line(options.fleet.json ? ReceivedJSON.line(payload) : EventText.text(event, job.node, .bridge))
        guard event["data"]?["outcome"]?.text == "done" else { throw ExitCode(1) }
    }
}
