// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Why something on the bus failed. Equal by code.
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
        /// Nobody has the name, and nobody can be started who does.
        public static let nobody = Code(kind: .nobody)
        /// Whoever has the name lacks the object, the interface or the method.
        public static let noMethod = Code(kind: .noMethod)
        /// Another program has the name.
        public static let nameTaken = Code(kind: .nameTaken)
        /// A message has other values than it should.
        public static let badMessage = Code(kind: .badMessage)
        /// The name is another user's.
        public static let foreign = Code(kind: .foreign)
        /// Whoever was asked does not answer in time, or ended before it did.
        public static let noAnswer = Code(kind: .noAnswer)
        /// The bus itself does not answer in time.
        public static let silentBus = Code(kind: .silentBus)
        /// Whoever was asked says no.
        public static let refused = Code(kind: .refused)
    }

    /// What the error says, behind one reference: an error that is one word costs little wherever a call may throw it.
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
    /// What is wrong, as a sentence for people.
    public var reason: String { contents.reason }

    init(_ code: Code, _ reason: String) { contents = Contents(code, reason) }

    /// The error of a call of sd-bus, which returns the number below zero.
    init(number: CInt, _ what: String) {
        // sd-bus says "No medium found" where neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set.
        let text =
            -number == ENOMEDIUM ? "the environment names none" : unsafe String(cString: strerror(-number))
        let code: Code =
            switch -number {
            case ENOENT, ECONNREFUSED, ECONNRESET, ENOTCONN, ENOMEDIUM, EPIPE: .noBus
            case EEXIST, EALREADY: .nameTaken
            case ETIMEDOUT: .noAnswer
            // The bus takes no connection more.
            case EAGAIN: .silentBus
            default: .refused
            }
        self.init(code, "\(what): \(text).")
    }

    /// An error that answers a call.
    ///
    /// - Parameters:
    ///   - name: the error's name on the bus.
    ///   - text: what it says.
    ///   - destination: what people know the one by who was asked.
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
        // A sentence follows that says what to do.
        let end = [".", "!", "?"].contains { text.hasSuffix($0) } ? "" : "."
        self.init(code, "\(destination) \(code == .noAnswer ? "does not answer" : "says"): \(text)\(end)")
    }

    public var description: String { reason }
}

extension BusError: Hashable {
    public static func == (left: BusError, right: BusError) -> Bool { left.code == right.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
