// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Reports an app's mistakes with one session, each only once.
package final class MisuseReporter: Sendable {
    private let environment: NFCEnvironment
    private let reported = Locked<Set<APIMisuse>>([])

    /// Creates a report without mistakes.
    ///
    /// - Parameter environment: receives the lines.
    package init(environment: NFCEnvironment) {
        self.environment = environment
    }

    /// Writes a line to standard error and to a test's trace, unless the mistake was already reported.
    package func add(_ mistake: APIMisuse) {
        if reported.withLock({ $0.insert(mistake).inserted }) { environment.notice(mistake.explanation) }
    }
}
