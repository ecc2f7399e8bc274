// SPDX-License-Identifier: Apache-2.0
import TextSafety

/// What a simulator withholds from the sessions of an app.
package struct SimulatorSwitches: Sendable, Hashable {
    /// Whether the phone's radio is on.
    package var hasRadio = true
    /// Whether something else uses the reader.
    package var isBusy = false
    /// Whether the app has its entitlement.
    package var hasEntitlement = true
    /// Whether the app says what it reads tags for.
    package var hasUsageText = true

    /// Creates switches that withhold nothing.
    package init() {}

    /// Reads the switches of a greeting or of an event. What it does not have is not withheld.
    init(_ line: JSONLine) {
        hasRadio = line.bool("radio") ?? true
        isBusy = line.bool("busy") ?? false
        hasEntitlement = line.bool("entitlement") ?? true
        hasUsageText = line.bool("usage_text") ?? true
    }
}
