// SPDX-License-Identifier: Apache-2.0

/// Finds the test of a caller, for a test kit.
///
/// A structure, because a plain function is wrapped again each time it leaves a generic type.
package struct TestSearch: Sendable {
    let find: @Sendable () -> NFCEnvironment?

    package init(_ find: @escaping @Sendable () -> NFCEnvironment?) { self.find = find }
}
