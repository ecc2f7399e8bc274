// SPDX-License-Identifier: Apache-2.0
import FleetMQTT
import FleetModel
import Foundation
import TextSafety

/// Why a command failed. `FleetCommand.main()` prints it.
struct FleetFailure: Error {
    /// The documented exit status.
    enum Status: Int32 {
        case refused = 1
        case usage = 2
        case noBroker = 3
        case cancelled = 130
    }

    var status: Status
    /// The error code, for programs.
    var name: String
    /// What happened and what to do next.
    var message: String

    init(_ status: Status, _ name: String, _ message: String) {
        self.status = status
        self.name = name
        self.message = message
    }

    init(_ error: ConfigurationError) { self.init(.usage, "bad-configuration", error.reason) }
    init(_ failure: MQTTFailure) { self.init(.noBroker, failure.code.rawValue, failure.reason) }

    static let cancelled = FleetFailure(.cancelled, "cancelled", "Cancelled.")

    /// Prints the failure: as JSON to standard output, or as a sentence to standard error.
    func print(json: Bool) {
        let value: JSONValue = ["ok": false, "error": .string(name), "message": .string(message)]
        if json { Output.line(value.line) } else { Output.write(VisibleText.escaped(message), to: STDERR_FILENO) }
    }
}
