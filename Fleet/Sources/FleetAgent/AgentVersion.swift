// SPDX-License-Identifier: Apache-2.0

/// The versions that an agent publishes.
package enum AgentVersion {
    /// The program's version.
    package static let program = "0.1.0"
    /// The version of the topic and event formats.
    package static let `protocol` = 1
}
