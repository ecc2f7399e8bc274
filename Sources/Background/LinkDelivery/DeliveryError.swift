// SPDX-License-Identifier: Apache-2.0
import UserBus

/// Why a link could not be opened. Errors are equal if their codes are.
package struct DeliveryError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure; new kinds may be added.
    package struct Code: Sendable, Hashable {
        /// The name of the kind, for programs.
        package let name: String

        /// There is no user bus.
        package static let noBus = Code(name: "no-bus")
        /// The app can't be started as it is installed.
        package static let notStarted = Code(name: "not-started")
        /// The app's desktop entry has no place for a link, or more than one.
        package static let takesNoLink = Code(name: "takes-no-link")
        /// The app was started, but ended.
        package static let ended = Code(name: "app-ended")
        /// The app did not answer in time.
        package static let noAnswer = Code(name: "no-answer")
        /// The app did not accept the link.
        package static let refused = Code(name: "app-refused")
        /// The app's name on the bus belongs to another user.
        package static let foreign = Code(name: "foreign-app")
        /// No app on this system opens links of this scheme.
        package static let noHandler = Code(name: "no-handler")
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
    package var code: Code { contents.code }
    /// What happened and what to do next, as sentences for people.
    package var reason: String { contents.reason }

    init(_ code: Code, _ reason: String) { contents = Contents(code, reason) }

    init(_ error: BusError) {
        let code: Code =
            switch error.code {
            case .libraryMissing, .noBus: .noBus
            case .nobody: .notStarted
            case .noAnswer, .silentBus: .noAnswer
            case .foreign: .foreign
            default: .refused
            }
        self.init(code, error.reason)
    }

    package var description: String { reason }
}

extension DeliveryError: Hashable {
    package static func == (left: DeliveryError, right: DeliveryError) -> Bool { left.code == right.code }

    package func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
