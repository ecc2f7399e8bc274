// SPDX-License-Identifier: Apache-2.0

/// The versions that an agent reports.
package enum AgentVersion {
    /// The version of the program.
    package static let program = "0.1.0"
    /// The version of topics and events.
    package static let `protocol` = 1
}
