// SPDX-License-Identifier: Apache-2.0

/// What a test kit knows the environment of a test by.
package protocol TestPlace: AnyObject, Sendable {}

/// How a test kit finds the test to which a caller belongs.
///
/// A structure, because a function by itself is wrapped once more each time it leaves a generic type.
package struct TestSearch: Sendable {
    let find: @Sendable () -> NFCEnvironment?

    package init(_ find: @escaping @Sendable () -> NFCEnvironment?) { self.find = find }
}
