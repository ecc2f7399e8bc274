// SPDX-License-Identifier: Apache-2.0
import TextSafety

/// The versions that an agent publishes.
package enum AgentVersion {
    /// The program's version.
    package static let program = ProjectVersion.current
    /// The version of the topic and event formats.
    package static let `protocol` = 1
}
