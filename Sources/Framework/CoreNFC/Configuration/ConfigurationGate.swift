// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinuxSupport
import NFCSessions
import TagLink
import TextSafety

/// Treats a session's request as iOS would.
enum ConfigurationGate {
    private static let hasNoted = Locked(false)

    /// Checks whether a session may begin.
    ///
    /// Where iOS would end the process, this ends it with a message that names the key, the file and the fix. For an
    /// app without a configuration it writes one line, once, about what iOS would have done.
    ///
    /// - Returns: the error that the session ends with; nil when it may begin.
    static func error(for request: AppConfiguration.Request, in configuration: AppConfiguration) -> NFCReaderError? {
        switch AppConfiguration.evaluate(configuration, request) {
        case .allowed(let notes):
            note(notes)
            return nil
        case .refused(let violation):
            write("CoreNFC: the session was refused. \(violation.message)")
            return violation.readerError
        case .endsProcess(let violation):
            endProcess(violation.message)
        }
    }

    /// Ends the process, where iOS would do so.
    static func endProcess(_ reason: String) -> Never {
        write("CoreNFC: the process ends, as it would on iOS. \(reason)")
        abort()
    }

    private static func note(_ violations: [AppConfiguration.Violation]) {
        // A test has a field of its own and no app around it.
        guard !violations.isEmpty, NFCEnvironment.ofTest == nil else { return }
        let isFirst = hasNoted.withLock { hasNoted in
            defer { hasNoted = true }
            return !hasNoted
        }
        guard isFirst else { return }
        let messages = violations.map(\.message).joined(separator: " ")
        write("CoreNFC: this runs here, and on iOS it would need more. \(messages)")
    }

    private static func write(_ line: String) {
        OutputDescriptor.standardError.write(VisibleText.escaped(line) + "\n")
    }
}
