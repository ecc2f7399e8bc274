// SPDX-License-Identifier: Apache-2.0

/// Waits while something is so, which is looked at every 5 ms, without a thread.
///
/// A `for` loop with a `where` would not do: it goes on to ask when the answer has become the wanted one.
///
/// - Parameters:
///   - condition: what is so.
///   - limit: how long to wait at most. Then the test goes on, and what it expects next fails.
/// - Throws: what the condition throws, or a cancellation.
package func waitWhile(
    _ condition: @autoclosure () async throws -> Bool,
    for limit: Duration = .seconds(60)
) async throws {
    let end = ContinuousClock.now + limit
    while try await condition(), ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(5)) }
}
