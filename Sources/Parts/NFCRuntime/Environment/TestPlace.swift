// SPDX-License-Identifier: Apache-2.0

/// What a test kit knows the environment of a test by.
package protocol TestPlace: AnyObject, Sendable {
    /// Code of the test has made an object, or given it to a session, that is to be freed when the test has ended.
    ///
    /// - Parameters:
    ///   - object: held weakly, if at all.
    ///   - kind: what it is.
    func made(_ object: AnyObject, as kind: MadeObject)

    /// Code of the test connects to a tag: what is to happen before that happens now.
    func willConnect()

    /// Whether a line about the app is printed too, and not only kept in the test's trace.
    ///
    /// - Parameter notice: the line.
    func prints(_ notice: String) -> Bool
}

/// What is freed when a test has ended.
package enum MadeObject: Sendable {
    case session, delegate, tag
}

/// How a test kit finds the test to which a caller belongs.
///
/// A structure, because a function by itself is wrapped once more each time it leaves a generic type.
package struct TestSearch: Sendable {
    let find: @Sendable () -> NFCEnvironment?

    package init(_ find: @escaping @Sendable () -> NFCEnvironment?) { self.find = find }
}
