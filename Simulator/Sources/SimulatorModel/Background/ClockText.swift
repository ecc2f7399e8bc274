// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A time of day, as a phone shows it.
enum ClockText {
    /// - Parameter milliseconds: milliseconds since 1970.
    /// - Returns: hours and minutes in the local time zone, such as `9:41`.
    static func time(_ milliseconds: UInt64) -> String {
        var seconds = time_t(milliseconds / 1000)
        var parts = unsafe tm()
        guard unsafe localtime_r(&seconds, &parts) != nil else { return "" }
        let (hour, minute) = unsafe (parts.tm_hour, parts.tm_min)
        return "\(hour):" + (minute < 10 ? "0" : "") + "\(minute)"
    }
}
