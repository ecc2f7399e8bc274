// SPDX-License-Identifier: Apache-2.0

/// A program that the user's systemd has started. It stays known as long as this is there. It belongs to one thread at a time.
///
/// The program is no child of this process: neither its sandbox nor its limits go along.
public final class StartedUnit {
    /// How a unit is doing.
    public enum State: Sendable, Hashable {
        /// The program runs.
        case running
        /// The program has ended with a status.
        case exited(Int32)
        /// A signal has ended the program.
        case killed(Int32)
        /// There was no start: the program is missing, or its folder, or systemd refuses it. The reason is systemd's word.
        case notStarted(String)
    }

    private static let name = "org.freedesktop.systemd1"
    private static let path = "/org/freedesktop/systemd1"
    /// Statuses of systemd's own for what it could not do before the program began: of 200 up to 243 (systemd.exec(5)).
    private static let ownStatuses: ClosedRange<Int64> = 200...243

    private let bus: UserBus
    private let owner: String
    private let unit: BusCall.Object

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: the program.
    ///   - bus: the user's bus. Nothing else may use it from now on.
    ///   - limit: how long systemd may take.
    /// - Returns: nil when no systemd of the user is on the bus.
    /// - Throws: ``BusError``.
    public init?(_ program: UnitProgram, bus: UserBus, limit: Duration) throws(BusError) {
        guard let owner = try bus.owner(of: Self.name) else { return nil }
        self.bus = bus
        self.owner = owner
        let manager = BusCall.Object(owner, Self.path, Self.name + ".Manager")
        // It sends signals to those alone who ask for them. Who has asked before is refused.
        _ = try? bus.connection.ask(BusCall(manager, "Subscribe"))
        _ = try bus.connection.call(manager, "StartTransientUnit", shownAs: "systemd", within: limit) { writer in
            writer.string(program.unit)
            writer.string("fail")
            writer.array(of: "(sv)") { program.writeProperties(to: &$0) }
            writer.array(of: "(sa(sv))")
        }
        let answer = try bus.connection.ask(BusCall(manager, "GetUnit", [.string(program.unit)]))
        guard let path = answer.first?.text else {
            throw BusError(.badMessage, "systemd answers with other values than it should.")
        }
        unit = BusCall.Object(owner, path, Self.name + ".Unit")
        try bus.connection.listen(to: "sender='\(Self.name)',path='\(path)',member='PropertiesChanged'")
    }

    /// Waits until the program has begun, and then for its end.
    ///
    /// - Parameter limit: how long to wait at most.
    /// - Returns: how it is doing then.
    /// - Throws: ``BusError``.
    public func wait(_ limit: Duration) throws(BusError) -> State {
        let end = ContinuousClock.now + limit
        while true {
            let state = try state()
            let left = ContinuousClock.now.duration(to: end)
            guard state == .running, left > .zero else { return state }
            bus.connection.wait(left)
            // What has changed is asked: only that something has is of interest.
            while try bus.connection.receive() != nil {}
        }
    }

    /// Waits until the program has begun, or could not.
    public func waitForStart(_ limit: Duration) throws(BusError) -> State {
        let end = ContinuousClock.now + limit
        while try isStarting {
            let left = ContinuousClock.now.duration(to: end)
            guard left > .zero else { throw BusError(.noAnswer, "systemd does not start it in time.") }
            bus.connection.wait(left)
            while try bus.connection.receive() != nil {}
        }
        return try state()
    }

    /// Whether the start is still to come: before it the unit is as inactive as after its end.
    private var isStarting: Bool {
        get throws(BusError) {
            guard try property("Job", of: unit).values?.first?.integer == 0 else { return true }
            return try property("ActiveState", of: unit).text == "activating"
        }
    }

    private func state() throws(BusError) -> State {
        let active = try property("ActiveState", of: unit).text
        guard active == "inactive" || active == "failed" else { return .running }
        let service = BusCall.Object(owner, unit.path, Self.name + ".Service")
        let result = try property("Result", of: service).text ?? ""
        let status = try property("ExecMainStatus", of: service).integer ?? 0
        // 1 is CLD_EXITED, 2 and 3 are the signals; 0 is a program that never was.
        switch try property("ExecMainCode", of: service).integer {
        case 1 where Self.ownStatuses.contains(status): return .notStarted("status \(status)")
        case 1: return .exited(Int32(clamping: status))
        case 2, 3: return .killed(Int32(clamping: status))
        default: return .notStarted(result)
        }
    }

    private func property(_ name: String, of object: BusCall.Object) throws(BusError) -> BusValue {
        let call = BusCall(object.properties, "Get", [.string(object.interface), .string(name)])
        guard let value = try bus.connection.ask(call).first else {
            throw BusError(.badMessage, "systemd answers with other values than it should.")
        }
        return value
    }
}

extension UnitProgram {
    /// The unit's properties (org.freedesktop.systemd1(5)).
    fileprivate func writeProperties(to writer: inout BusMessageWriter) {
        writer.property("Description", "s") { $0.string(description) }
        // It is started when the program is, and not before.
        writer.property("Type", "s") { $0.string("exec") }
        // Programs leave the rest to others and end, such as a browser's script.
        writer.property("KillMode", "s") { $0.string("process") }
        // It is forgotten when it has ended and this connection too, however it has ended.
        writer.property("CollectMode", "s") { $0.string("inactive-or-failed") }
        writer.property("AddRef", "b") { $0.boolean(true) }
        // What the program prints may be what a tag says, which is in no log.
        for name in ["StandardOutput", "StandardError"] { writer.property(name, "s") { $0.string("null") } }
        writer.property("WorkingDirectory", "s") { $0.string(folder) }
        writer.property("Environment", "as") { writer in
            writer.array(of: "s") { writer in
                for (name, value) in environment.sorted(by: { $0.key < $1.key }) { writer.string("\(name)=\(value)") }
            }
        }
        writer.property("ExecStart", "a(sasb)") { writer in
            writer.array(of: "(sasb)") { writer in
                writer.structure("sasb") { writer in
                    writer.string(path)
                    writer.array(of: "s") { writer in for word in escapedArguments { writer.string(word) } }
                    writer.boolean(false)
                }
            }
        }
    }
}
