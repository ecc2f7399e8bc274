// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// A program connected to the simulator's local socket: handles its lines and sends the answers.
///
/// Call ``receive(_:)`` on one thread only. It blocks for the airtime of a frame before the answer is sent.
public final class ProgramConnection: Sendable {
    private let simulator: Simulator
    private let pid: Int32?
    private let ancestors: [Int32]
    private let send: @Sendable (JSON) -> Void
    private let onApp: @Sendable (String) -> Void
    private let client = Locked<AppList.Client?>(nil)
    private let cards = Locked<CardCommands?>(nil)
    /// Whether the program lets the simulator activate tags. Its frames are then commands.
    private let polls = Locked(false)

    /// Creates the connection of a program.
    ///
    /// - Parameters:
    ///   - simulator: the simulator.
    ///   - pid: the program's process, as the system reports it.
    ///   - ancestors: the program's process and its ancestors, nearest first.
    ///   - onApp: called with the app's id before the greeting is sent, so that the app can be described.
    ///   - send: sends an object to the program, from any thread.
    public init(
        _ simulator: Simulator,
        pid: Int32?,
        ancestors: [Int32],
        onApp: @escaping @Sendable (String) -> Void = { _ in },
        send: @escaping @Sendable (JSON) -> Void
    ) {
        self.simulator = simulator
        self.pid = pid
        self.ancestors = ancestors
        self.send = send
        self.onApp = onApp
    }

    /// Ends the connection, and releases everything that the program used.
    public func close() {
        guard let client = client.withLock({ $0.take() }) else { return }
        simulator.update { $0.disconnect(client.id) }
        simulator.unregister(client.id)
    }

    /// Handles a line.
    ///
    /// - Parameter line: the line, without its newline.
    /// - Returns: whether the connection stays open.
    public func receive(_ line: [UInt8]) -> Bool {
        let request: JSON
        do throws(JSON.Problem) {
            request = try JSON(parsing: line)
        } catch {
            send(["error": "bad-json", "message": .string("The line is not a JSON object: \(error.reason)")])
            return client.withLock { $0 != nil }
        }
        guard let client = client.withLock({ $0 }) else { return greet(request) }
        let id = request["id"]
        do throws(SimulatorFailure) {
            let answer = try perform(request, client)
            if var members = answer?.object {
                if let id { members["id"] = id }
                send(.object(members))
            }
        } catch {
            var members: [String: JSON] = ["error": .string(error.code), "message": .string(error.message)]
            if let id { members["id"] = id }
            if let extra = error.collision { members.merge(extra) { $1 } }
            send(.object(members))
        }
        return true
    }

    private func greet(_ hello: JSON) -> Bool {
        do throws(SimulatorFailure) {
            let (pid, ancestors) = (pid, ancestors)
            let client = try simulator.update { state throws(SimulatorFailure) in
                try state.connect(hello, pid: pid, ancestors: ancestors)
            }
            self.client.withLock { $0 = client }
            simulator.register(client.id, send: send)
            if client.isApp { onApp(client.app) }
            // The switches are part of the greeting, so that a session that begins at once already knows them.
            var answer = simulator.read { $0.switches.forApps }.object ?? [:]
            answer["event"] = nil
            answer.merge([
                "hello": 1, "name": "OpenCoreNFC Simulator", "app": .string(client.app),
                "technologies": .array(Technology.allCases.map { .string($0.name) }), "maximum_frame_length": 256,
            ]) { $1 }
            send(.object(answer))
            simulator.update { $0.greet(client) }
            return true
        } catch {
            send(["error": .string(error.code), "message": .string(error.message)])
            return false
        }
    }

    /// - Returns: the answer without its id; nil if there is no answer or it is sent later.
    private func perform(_ request: JSON, _ client: AppList.Client) throws(SimulatorFailure) -> JSON? {
        let hasID = request["id"] != nil
        switch request["do"]?.string {
        case "frame": return try frame(request, client)
        case "carrier":
            guard let isOn = request["on"]?.bool else { throw .invalid("\"on\" must be true or false.") }
            try turn(client)
            simulator.update { $0.setCarrier(isOn, source: client.app) }
            return [:]
        case "apdu":
            guard let command = [UInt8](hex: request["apdu"]?.string ?? ""), !command.isEmpty else {
                throw .invalid("\"apdu\" must be a command in hexadecimal digits.")
            }
            try turn(client)
            let answer = try journaled(command) { () throws(SimulatorFailure) in try commands(client).transmit(command)
            }
            return ["apdu": .string(answer.hex)]
        case "poll":
            try turn(client)
            let tags = try commands(client).poll()
            polls.withLock { $0 = true }
            if !tags.isEmpty { simulator.update { $0.journal.add(.detect(tags.count)) } }
            return ["tags": .array(tags)]
        case "arrival":
            guard let identifier = [UInt8](hex: request["identifier"]?.string ?? ""), !identifier.isEmpty else {
                throw .invalid("\"identifier\" must be the UID in hexadecimal digits.")
            }
            let arrival = simulator.read { $0.field.virtual.arrival(of: identifier) }
            return ["arrival": JSON(arrival.map { Int(clamping: $0) })]
        case "watch":
            simulator.update { $0.apps.setWatches(client.id) }
            return [:]
        case "claim":
            let id = request["id"] ?? .null
            try simulator.update { state throws(SimulatorFailure) in try state.claim(client.id, request: id) }
            return nil
        case "release":
            simulator.update { $0.release(client.id) }
            return hasID ? [:] : nil
        case "sheet":
            try simulator.update { state throws(SimulatorFailure) in try state.sheet(client, request) }
            return hasID ? [:] : nil
        case "event":
            try simulator.update { state throws(SimulatorFailure) in try state.event(client, request) }
            return hasID ? [:] : nil
        case "screen":
            try simulator.update { state throws(SimulatorFailure) in try state.screen(client, request) }
            return hasID ? [:] : nil
        default:
            throw SimulatorFailure(
                "no-such-request",
                "No request has this name. The documentation lists all of them."
            )
        }
    }

    /// Sends a command, and notes it for "Copy as test".
    private func journaled(
        _ command: [UInt8],
        _ send: () throws(SimulatorFailure) -> [UInt8]
    ) throws(SimulatorFailure) -> [UInt8] {
        var call = Journal.Call(name: .command, sent: command, error: 0)
        defer { simulator.update { [call] in $0.journal.add(.call(call)) } }
        let answer = try send()
        (call.received, call.error) = (answer, nil)
        return answer
    }

    /// Waits for the program's turn if it sent no claim.
    private func turn(_ client: AppList.Client) throws(SimulatorFailure) {
        do throws(LinkError) {
            try simulator.takeTurn(client.id)
        } catch {
            throw SimulatorFailure(error)
        }
    }

    private func commands(_ client: AppList.Client) -> CardCommands {
        cards.withLock { cards in
            if let cards { return cards }
            let newCommands = CardCommands(PhoneReader(simulator: simulator, source: client.app))
            cards = newCommands
            return newCommands
        }
    }

    private func frame(_ request: JSON, _ client: AppList.Client) throws(SimulatorFailure) -> JSON {
        guard let technology = request["technology"]?.string.flatMap(Technology.init(name:)) else {
            throw .invalid("\"technology\" must be nfc-a, nfc-b, nfc-f or nfc-v.")
        }
        let frame = try Frame(request)
        guard !frame.bytes.isEmpty else { throw .invalid("\"bytes\" must have at least one byte.") }
        let timeout = try request.optional("timeout_us", \.int, "a number") ?? 5000
        guard (0...60_000_000).contains(timeout) else {
            throw .invalid("\"timeout_us\" must be a number of microseconds, at most 60000000.")
        }
        try turn(client)
        let (result, elapsed, due) = simulator.exchange(
            frame,
            technology,
            timeout: .microseconds(Int64(timeout)),
            source: client.app
        )
        AirtimeWait.until(due, simulator.clock)
        if polls.withLock({ $0 }), frame.checksum == .automatic {
            let call = Journal.Call(frame.bytes, technology, try? result.get())
            simulator.update { state in
                guard state.field.near.contains(where: { $0.tag.technology == technology }) else { return }
                state.journal.add(.call(call))
            }
        }
        switch result {
        case .success(let answer):
            return .object(answer.json.merging(["elapsed_us": .int(Int(elapsed.microseconds))]) { $1 })
        case .failure(let error): throw SimulatorFailure(error)
        }
    }
}

extension Frame {
    /// The frame as `bytes`, `bits` of the last byte, and `checksum`.
    var json: [String: JSON] {
        ["bytes": .string(bytes.hex), "bits": .int(validBitsInLastByte), "checksum": .string(checksum.name)]
    }

    /// Creates a frame from ``json``, whose `bits` and `checksum` are optional.
    init(_ request: JSON) throws(SimulatorFailure) {
        guard let bytes = request["bytes"]?.string.flatMap([UInt8].init(hex:)), bytes.count <= 4096 else {
            throw .invalid("\"bytes\" must be a frame in hexadecimal digits.")
        }
        let bits = try request.optional("bits", \.int, "a number") ?? 8
        guard (1...8).contains(bits) else {
            throw .invalid("\"bits\" must be the number of bits in the last byte, 1 to 8.")
        }
        let checksum: Checksum
        switch try request.optional("checksum", \.string, "automatic, crc-b or none") {
        case "automatic", nil: checksum = bits == 8 ? .automatic : .none
        case "crc-b": checksum = .crcB
        case "none": checksum = .none
        default: throw .invalid("\"checksum\" must be automatic, crc-b or none.")
        }
        guard bits == 8 || checksum == .none else {
            throw .invalid("A frame with an incomplete last byte can't have a checksum.")
        }
        self = bits == 8 ? Frame(bytes, checksum: checksum) : Frame(bits: bytes, validBitsInLastByte: bits)
    }
}

extension Frame.Checksum {
    fileprivate var name: String {
        switch self {
        case .automatic: "automatic"
        case .crcB: "crc-b"
        case .none: "none"
        }
    }
}

extension SimulatorFailure {
    /// Converts a link error.
    init(_ error: LinkError) {
        self.init("\(error.code)".kebab, error.reason)
        guard let point = error.collision else { return }
        collision = ["collision_bit": .int(point.bitIndex), "collision_bits": .string(point.bits.hex)]
    }
}
