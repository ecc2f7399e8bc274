// SPDX-License-Identifier: Apache-2.0

/// The version of the project, which every program prints. It is in this module because all programs use it.
public enum ProjectVersion {
    /// The version as in Semantic Versioning 2.0.0, such as `0.1.0`. `dev/release` compares it with the changes.
    public static let current = "0.1.0"
}
