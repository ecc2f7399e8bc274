// SPDX-License-Identifier: Apache-2.0

/// A program that the user's systemd started. systemd tracks its state while this object exists. Use the object from
/// one thread at a time.
///
/// The program is not a child of this process, so it does not inherit this process's sandbox and limits.
package final class StartedUnit {
    package enum State: Sendable, Hashable {
        case running
        case exited(Int32)
        case killed(Int32)
        /// The program could not be started, for example because the program or its folder is missing. The reason is
        /// systemd's name for the result.
        case notStarted(String)
    }

    private static let name = "org.freedesktop.systemd1"
    private static let path = "/org/freedesktop/systemd1"
    /// The exit statuses of systemd itself, for failures before the program runs: 200 to 243 (systemd.exec(5)).
    private static let ownStatuses: ClosedRange<Int64> = 200...243

    private let bus: BusConnection
    private let owner: String
    private let unit: BusCall.Object

    /// Starts a program; nil when the user's systemd is not on the bus. From now on, nothing else may use the
    /// connection.
    package init?(_ program: UnitProgram, bus: BusConnection, limit: Duration) throws(BusError) {
        guard let owner = try bus.userOwner(of: Self.name) else { return nil }
        self.bus = bus
        self.owner = owner
        let manager = BusCall.Object(owner, Self.path, Self.name + ".Manager", program: "systemd")
        // systemd sends signals only to subscribers. If this program has already subscribed, the call fails harmlessly.
        _ = try? bus.ask(BusCall(manager, "Subscribe"))
        let arguments: [BusValue] = [
            .string(program.unit), .string("fail"), .array(of: "(sv)", program.properties),
            .array(of: "(sa(sv))", []),
        ]
        _ = try bus.ask(BusCall(manager, "StartTransientUnit", arguments), within: limit)
        let answer = try bus.ask(BusCall(manager, "GetUnit", [.string(program.unit)]))
        guard let path = answer.first?.text else { throw .badAnswer(of: manager) }
        unit = BusCall.Object(owner, path, Self.name + ".Unit", program: "systemd")
        try bus.listen(to: "sender='\(Self.name)',path='\(path)',member='PropertiesChanged'")
    }

    /// Waits until the program ends or the time is over. Returns the last state.
    package func wait(_ limit: Duration) throws(BusError) -> State {
        let deadline = Deadline(after: limit)
        while true {
            let state = try state()
            guard state == .running, let left = deadline.left else { return state }
            bus.wait(left)
            // The messages only show that something changed, so the state is read again.
            while try bus.receive() != nil {}
        }
    }

    package func waitForStart(_ limit: Duration) throws(BusError) -> State {
        let deadline = Deadline(after: limit)
        while try isStarting {
            guard let left = deadline.left else { throw BusError(.noAnswer, "systemd did not start it in time.") }
            bus.wait(left)
            while try bus.receive() != nil {}
        }
        return try state()
    }

    /// Whether the program has not started yet. Before the start, the unit is as inactive as after the end.
    private var isStarting: Bool {
        get throws(BusError) {
            guard try property("Job", of: unit).values?.first?.integer == 0 else { return true }
            return try property("ActiveState", of: unit).text == "activating"
        }
    }

    private func state() throws(BusError) -> State {
        let active = try property("ActiveState", of: unit).text
        guard active == "inactive" || active == "failed" else { return .running }
        let service = BusCall.Object(owner, unit.path, Self.name + ".Service", program: "systemd")
        let result = try property("Result", of: service).text ?? ""
        let status = try property("ExecMainStatus", of: service).integer ?? 0
        // 1 is CLD_EXITED, 2 and 3 are signals, 0 means that no program ran.
        switch try property("ExecMainCode", of: service).integer {
        case 1 where Self.ownStatuses.contains(status): return .notStarted("status \(status)")
        case 1: return .exited(Int32(clamping: status))
        case 2, 3: return .killed(Int32(clamping: status))
        default: return .notStarted(result)
        }
    }

    private func property(_ name: String, of object: BusCall.Object) throws(BusError) -> BusValue {
        guard let value = try bus.ask(BusCall(property: name, of: object)).first else { throw .badAnswer(of: object) }
        return value
    }
}

/// A program that the user's systemd starts as a service unit. The unit is removed when the program ends.
package struct UnitProgram: Sendable {
    /// The name of the unit, including `.service`.
    package var unit: String
    package var description: String
    package var path: String
    /// The program's arguments, starting with its name.
    package var arguments: [String]
    package var folder: String
    /// The program's variables. systemd adds its own variables, unless they have the same name.
    package var environment: [String: String]

    /// - Parameters:
    ///   - path: the program's absolute path.
    ///   - arguments: the program's arguments, starting with its name.
    ///   - app: the name of the app's desktop entry, or of the program. It becomes part of the unit's name.
    ///   - environment: the program's variables. Variables that systemd rejects are left out: those with control
    ///     characters in the value, or with a name that contains anything but letters, digits and `_`.
    package init(
        _ path: String,
        _ arguments: [String],
        app: String,
        folder: String,
        environment: [String: String]
    ) {
        let number = UInt32.random(in: 0...UInt32.max)
        unit = "app-nfc-\(Self.escaped(app))-\(String(number, radix: 16)).service"
        description = "\(app), opened by a tag"
        self.path = path
        self.arguments = arguments
        self.folder = folder
        self.environment = environment.filter { name, value in Self.isName(name) && Self.isValue(value) }
    }

    /// Escapes a part of a unit's name, because a hyphen has a special meaning there (systemd.unit(5)). If all 57 bytes
    /// are escaped, the unit's name has 253 bytes, and the maximum is 255.
    private static func escaped(_ text: String) -> String {
        text.utf8.prefix(57).map { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F: String(UnicodeScalar(byte))
            case 0x2E: "."
            default: "\\x" + String(256 + Int(byte), radix: 16).dropFirst()
            }
        }.joined()
    }

    private static func isName(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.enumerated().allSatisfy { index, byte in
                switch byte {
                case 0x41...0x5A, 0x61...0x7A, 0x5F: true
                case 0x30...0x39: index > 0
                default: false
                }
            }
    }

    private static func isValue(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F || $0 == "\t" || $0 == "\n" }
    }

    /// The arguments in systemd's syntax. systemd replaces a dollar sign and a name with a variable, and two dollar
    /// signs with one (systemd.service(5), Command lines).
    private var escapedArguments: [String] { arguments.map { $0.replacing("$", with: "$$") } }

    /// The unit's properties as pairs of name and value (org.freedesktop.systemd1(5)).
    fileprivate var properties: [BusValue] {
        let command: BusValue = .structure([.string(path), .strings(escapedArguments), .boolean(false)])
        let variables = environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let properties: KeyValuePairs<String, BusValue> = [
            "Description": .string(description),
            // The unit counts as started only once the program was executed.
            "Type": .string("exec"),
            // Some programs, such as a browser's script, start other programs and end.
            "KillMode": .string("process"),
            // systemd removes the unit once the program has ended, whether it succeeded or failed, and this connection
            // is closed.
            "CollectMode": .string("inactive-or-failed"),
            "AddRef": .boolean(true),
            // The program's output may contain text from a tag, which must not appear in a log.
            "StandardOutput": .string("null"),
            "StandardError": .string("null"),
            "WorkingDirectory": .string(folder),
            "Environment": .strings(variables),
            "ExecStart": .array(of: "(sasb)", [command]),
        ]
        return properties.map { .structure([.string($0.key), .variant($0.value)]) }
    }
}
