// SPDX-License-Identifier: Apache-2.0
import UserBus

/// The service that runs for the user, if any.
enum RunningService {
    private static let name = "org.opencorenfc.Background"

    /// Calls a method of the service. The call does not start the service.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - arguments: its arguments.
    ///   - limit: how many seconds the service has to answer.
    /// - Returns: its answer; nil when it does not run.
    /// - Throws: ``CommandFailure``, `no-bus` when there is no bus, and `no-answer` when it runs and does not answer.
    static func ask(
        _ method: String,
        _ arguments: [BusValue] = [],
        within limit: UInt64 = 2
    ) throws(CommandFailure) -> String? {
        let object = BusCall.Object(name, "/org/opencorenfc/Background", name + "1")
        do throws(BusError) {
            let bus = try BusConnection(.user)
            guard try bus.hasOwner(name) else { return nil }
            return try bus.ask(BusCall(object, method, arguments), within: .seconds(limit)).first?.text ?? ""
        } catch {
            throw failure(error)
        }
    }

    /// Whether the service runs, even if it does not answer.
    static var isRunning: Bool {
        guard let bus = try? BusConnection(.user) else { return false }
        return (try? bus.hasOwner(name)) == true
    }

    /// Asks the service for its status.
    ///
    /// - Returns: the answer as text and decoded; nil when the service does not run.
    /// - Throws: ``CommandFailure``, `bad-answer` when the answer can't be read, and the failures of ``ask(_:_:within:)``.
    static func status() throws(CommandFailure) -> (text: String, status: ServiceStatus)? {
        guard let text = try ask("Status") else { return nil }
        guard let status = ServiceStatus(text) else {
            throw CommandFailure(
                .refused,
                "bad-answer",
                "The program with nfcd's name on the bus sent a status that can't be read. It is another version of nfcd, or "
                    + "another program. Start nfcd again: systemctl --user restart nfcd"
            )
        }
        return (text, status)
    }

    private static func failure(_ error: BusError) -> CommandFailure {
        switch error.code {
        case .libraryMissing, .noBus, .silentBus: CommandFailure(.refused, "no-bus", error.reason)
        default: CommandFailure(.refused, "no-answer", "\(error.reason) See: journalctl --user -u nfcd")
        }
    }
}
