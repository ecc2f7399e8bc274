// SPDX-License-Identifier: Apache-2.0
import Foundation

/// How long a test waits at most for what comes in a moment. Then it goes on, and what it expects next fails.
private let limit = Duration.seconds(60)

/// Waits while something is so, which is looked at every 5 ms, and blocks the thread.
///
/// A `for` loop with a `where` would not do: it goes on to ask when the answer has become the wanted one.
package func waitWhile(_ condition: @autoclosure () throws -> Bool) rethrows {
    let end = ContinuousClock.now + limit
    while try condition(), ContinuousClock.now < end { usleep(5000) }
}

/// Waits while something is so, which is looked at every 5 ms, without a thread.
///
/// - Throws: what the condition throws, or a cancellation.
package func waitWhile(_ condition: @autoclosure () async throws -> Bool) async throws {
    let end = ContinuousClock.now + limit
    while try await condition(), ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(5)) }
}
