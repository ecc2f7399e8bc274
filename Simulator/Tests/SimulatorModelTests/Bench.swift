// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import SimulatorModel
import Testing

/// A simulator whose time a test moves, without background reading.
struct Bench: Sendable {
    let clock = TestClock()
    let simulator: Simulator

    init() {
        // The time of day goes on as the clock does.
        simulator = Simulator(clock: clock) { [clock] in
            1_700_000_000_000 + UInt64(clock.now / .milliseconds(1))
        }
    }

    /// Lets time pass until a condition holds: another thread of the simulator may be about to set a timer.
    func passTime(until condition: () throws -> Bool) async throws {
        // Rounds, not seconds: other tests may take all of the processors' time.
        var rounds = 0
        while try !condition(), rounds < 10_000 {
            rounds += 1
            try await Task.sleep(for: .milliseconds(2))
            clock.advance(by: .milliseconds(500))
        }
        #expect(try condition())
    }

    @discardableResult
    func act(_ action: JSON) throws -> JSON { try simulator.perform(action) }

    /// Adds a tag, and returns its id.
    func add(_ members: [String: JSON]) throws -> String {
        let action = JSON.object(members.merging(["do": "new_tag"]) { $1 })
        return try #require(try act(action)["tag"]?.string)
    }

    /// A tag as the pages have it.
    func tag(_ id: String) throws -> JSON {
        _ = simulator.takeChanges()
        let tags = try #require(try act(["do": "list"])["tags"]?.array)
        return try #require(tags.first { $0["id"]?.string == id })
    }

    func state(_ part: String) throws -> JSON {
        try #require(try act(["do": "state"])["state"]?[part])
    }

    /// The error of an action that is refused.
    func refusal(_ action: JSON) -> SimulatorFailure? {
        do {
            _ = try simulator.perform(action)
            return nil
        } catch {
            return error
        }
    }
}

/// A program at the simulator, without a socket.
final class TestProgram: Sendable {
    private let connection: ProgramConnection
    private let lines = Locked<[JSON]>([])
    private let last = Locked(0)

    init(_ simulator: Simulator, name: String = "App", client: String = "app") throws {
        let lines = lines
        connection = ProgramConnection(simulator, pid: nil, ancestors: []) { line in lines.withLock { $0.append(line) }
        }
        let hello: JSON = ["hello": 1, "client": .string(client), "name": .string(name)]
        #expect(connection.receive(hello.bytes))
    }

    init(_ simulator: Simulator, hello: JSON) {
        let lines = lines
        connection = ProgramConnection(simulator, pid: nil, ancestors: []) { line in lines.withLock { $0.append(line) }
        }
        _ = connection.receive(hello.bytes)
    }

    /// Everything that it was sent so far.
    var received: [JSON] { lines.withLock { $0 } }

    func events(_ name: String) -> [JSON] { received.filter { $0["event"]?.string == name } }

    /// The events of a name, once there is one: another thread of the simulator may be about to send it.
    func awaitedEvents(_ name: String) async throws -> [JSON] {
        let deadline = ContinuousClock.now + .seconds(30)
        while events(name).isEmpty, ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(2)) }
        return events(name)
    }

    func send(_ request: JSON) { _ = connection.receive(request.bytes) }

    func send(line: String) -> Bool { connection.receive(Array(line.utf8)) }

    /// Sends a request, and returns its answer; nil when there is none yet.
    @discardableResult
    func ask(_ members: [String: JSON]) -> JSON? {
        let id = last.withLock { last in
            last += 1
            return last
        }
        send(.object(members.merging(["id": .int(id)]) { $1 }))
        return received.last { $0["id"]?.int == id }
    }

    func frame(_ technology: String, _ bytes: String, bits: Int? = nil) -> JSON? {
        var members: [String: JSON] = [
            "do": "frame", "technology": .string(technology), "bytes": .string(bytes),
        ]
        if let bits {
            members["bits"] = .int(bits)
            members["checksum"] = "none"
        }
        return ask(members)
    }

    /// Wakes a Type 2 tag, and selects it. The answer is that of the last command.
    func selectType2() -> JSON? {
        _ = ask(["do": "carrier", "on": false])
        _ = ask(["do": "carrier", "on": true])
        _ = frame("nfc-a", "26", bits: 7)
        for level in ["93", "95"] {
            guard
                let part = ask([
                    "do": "frame", "technology": "nfc-a", "bytes": .string(level + "20"), "checksum": "none",
                ]),
                let bytes = part["bytes"]?.string
            else { return nil }
            _ = frame("nfc-a", level + "70" + bytes)
        }
        return received.last
    }

    func close() { connection.close() }
}
