// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Why a call on the bus failed. Errors are equal if their codes are.
public struct BusError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure; new kinds may be added.
    public struct Code: Sendable, Hashable {
        enum Kind: Sendable {
            case libraryMissing, daemonMissing, noBus, nobody, noMethod, nameTaken, badMessage, foreign, noAnswer,
                silentBus, refused
        }

        let kind: Kind

        /// libsystemd is not installed.
        public static let libraryMissing = Code(kind: .libraryMissing)
        /// dbus-daemon is not installed.
        public static let daemonMissing = Code(kind: .daemonMissing)
        /// There is no bus, or it closed the connection.
        public static let noBus = Code(kind: .noBus)
        /// No program owns the name, and none can be started for it.
        public static let nobody = Code(kind: .nobody)
        /// The program with this name lacks the object, the interface or the method.
        public static let noMethod = Code(kind: .noMethod)
        /// Another program owns the name.
        public static let nameTaken = Code(kind: .nameTaken)
        /// A message has unexpected values.
        public static let badMessage = Code(kind: .badMessage)
        /// The name belongs to another user.
        public static let foreign = Code(kind: .foreign)
        /// The program did not answer in time, or ended before it answered.
        public static let noAnswer = Code(kind: .noAnswer)
        /// The bus itself did not answer in time.
        public static let silentBus = Code(kind: .silentBus)
        /// The program answered with an error.
        public static let refused = Code(kind: .refused)
    }

    /// Boxed, so that the error is one pointer wide.
    private final class Contents: Sendable {
        let code: Code
        let reason: String

        init(_ code: Code, _ reason: String) {
            self.code = code
            self.reason = reason
        }
    }

    private let contents: Contents

    /// The kind of failure.
    public var code: Code { contents.code }
    /// The reason, as a sentence for people.
    public var reason: String { contents.reason }

    init(_ code: Code, _ reason: String) { contents = Contents(code, reason) }

    /// Creates an error from the negative number that a call of sd-bus returned.
    init(number: CInt, _ what: String) {
        // sd-bus reports "No medium found" when neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set.
        let text =
            -number == ENOMEDIUM ? "the environment names none" : unsafe String(cString: strerror(-number))
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

    /// Creates an error from an error that answers a call.
    ///
    /// - Parameters:
    ///   - name: the error's name on the bus.
    ///   - text: its text.
    ///   - destination: the name of the called program, for people.
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
        // A sentence about what to do follows.
        let end = [".", "!", "?"].contains { text.hasSuffix($0) } ? "" : "."
        self.init(code, "\(destination) \(code == .noAnswer ? "does not answer" : "says"): \(text)\(end)")
    }

    public var description: String { reason }
}

extension BusError: Hashable {
    public static func == (left: BusError, right: BusError) -> Bool { left.code == right.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
