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

/// Describes a length of time in words, rounded up, such as "5 minutes".
package func durationText(seconds: Int64) -> String {
    let minutes = (seconds + 59) / 60
    switch seconds {
    case ...60: return "a minute"
    case ...7200: return "\(minutes) minutes"
    default: return "\((minutes + 59) / 60) hours"
    }
}
