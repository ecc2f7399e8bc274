// SPDX-License-Identifier: Apache-2.0

/// Describes an age in words, such as "5 minutes ago".
package func ageText(seconds: Int64) -> String {
    switch seconds {
    case ..<0: "in the future"
    case ..<120: "just now"
    case ..<7200: "\(seconds / 60) minutes ago"
    case ..<172_800: "\(seconds / 3600) hours ago"
    default: "\(seconds / 86400) days ago"
    }
}
