// SPDX-License-Identifier: Apache-2.0

/// The test kit's object for one test.
package protocol TestContext: AnyObject, Sendable {
    /// The test's code has created an object or passed it to a session. The object should be freed when the test has
    /// ended.
    ///
    /// - Parameters:
    ///   - object: keep only a weak reference to it.
    ///   - kind: the kind of object.
    func made(_ object: AnyObject, as kind: MadeObject)

    /// The test's code connects to a tag. Performs what is planned for this moment.
    func willConnect()

    /// Returns whether a line about the app is also printed, and not only stored in the test's trace.
    ///
    /// - Parameter notice: the line.
    func prints(_ notice: String) -> Bool
}
