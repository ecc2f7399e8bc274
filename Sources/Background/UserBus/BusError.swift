// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The reason why a call on the bus failed.
public struct BusError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure.
    public enum Code: Sendable, Hashable {
        /// libsystemd is not installed.
        case libraryMissing
        /// dbus-daemon is not installed.
        case daemonMissing
        /// The bus does not exist, or has closed the connection.
        case noBus
        /// No program owns the name, and the bus can't start one for it.
        case nobody
        /// The program with this name lacks the object, the interface or the method.
        case noMethod
        /// Another program owns the name.
        case nameTaken
        /// A message has unexpected values.
        case badMessage
        /// The name belongs to another user.
        case foreign
        /// The program did not answer in time, or ended before it answered.
        case noAnswer
        /// The bus itself did not answer in time.
        case silentBus
        /// The program answered with an error.
        case refused
    }

    /// The kind of failure.
    public let code: Code
    /// The reason, as a sentence for people.
    public let reason: String

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    static func badAnswer(of object: BusCall.Object) -> BusError {
        BusError(.badMessage, "\(object.program) answers with unexpected values.")
    }

    /// Creates an error from a negative number that a function of sd-bus returned.
    init(number: CInt, _ what: String) {
        // sd-bus reports "No medium found" when neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set.
        let text =
            -number == ENOMEDIUM ? "the environment has no address" : unsafe String(cString: strerror(-number))
        let code: Code =
            switch -number {
            case ENOENT, ECONNREFUSED, ECONNRESET, ENOTCONN, ENOMEDIUM, EPIPE: .noBus
            case EEXIST, EALREADY: .nameTaken
            case ETIMEDOUT: .noAnswer
            // The bus accepts no more connections.
            case EAGAIN: .silentBus
            default: .refused
            }
        self.init(code, "\(what): \(text).")
    }

    init(answer name: String, _ text: String, of destination: String) {
        let code: Code =
            switch name {
            case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner": .nobody
            case "org.freedesktop.DBus.Error.UnknownMethod", "org.freedesktop.DBus.Error.UnknownInterface",
                "org.freedesktop.DBus.Error.UnknownObject":
                .noMethod
            case "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Timeout",
                "org.freedesktop.DBus.Error.TimedOut":
                .noAnswer
            default: .refused
            }
        // Ends with a period, because a sentence about what to do may follow.
        let end = [".", "!", "?"].contains { text.hasSuffix($0) } ? "" : "."
        self.init(code, "\(destination) \(code == .noAnswer ? "does not answer" : "says"): \(text)\(end)")
    }

    public var description: String { reason }
}
