// SPDX-License-Identifier: Apache-2.0

package enum Later {
    package static func run(after pause: Duration, _ work: @escaping @MainActor @Sendable () -> Void) {
        runOnMain(after: pause, work)
    }
}
