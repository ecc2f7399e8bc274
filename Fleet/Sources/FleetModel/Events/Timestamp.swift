// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Formats and parses times as RFC 3339 in UTC with milliseconds.
package enum Timestamp {
    /// The current time, in milliseconds since 1970.
    package static var now: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Formats a time, such as `2026-11-24T05:40:12.123Z`. The year has four digits.
    package static func text(_ milliseconds: Int64) -> String {
        let day = floorDivision(milliseconds, 86_400_000)
        let rest = milliseconds - day * 86_400_000
        let (year, month, dayOfMonth) = civil(day)
        let parts = [rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60].map { padded($0, 2) }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfMonth, 2))T"
            + parts.joined(separator: ":") + ".\(padded(rest % 1000, 3))Z"
    }

    /// Parses a UTC time, with or without a fraction; nil for other text.
    package static func milliseconds(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes.last == 0x5A, bytes[4] == 0x2D, bytes[7] == 0x2D, bytes[10] == 0x54,
            bytes[13] == 0x3A, bytes[16] == 0x3A, let year = number(bytes[0..<4]), let month = number(bytes[5..<7]),
            let day = number(bytes[8..<10]), let hour = number(bytes[11..<13]), let minute = number(bytes[14..<16]),
            let second = number(bytes[17..<19]), (1...12).contains(month), day >= 1, day <= days(month, year),
            hour < 24,
            minute < 60, second <= 60
        else { return nil }
        var fraction: Int64 = 0
        if bytes.count > 20 {
            let digits = bytes[20..<bytes.count - 1]
            guard bytes[19] == 0x2E, (1...9).contains(digits.count), number(digits) != nil else { return nil }
            fraction = number(Array((digits + [0x30, 0x30]).prefix(3))[...]) ?? 0
        }
        return ((ordinal(year, month, day) * 24 + hour) * 60 + minute) * 60_000 + second * 1000 + fraction
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }

    private static func padded(_ number: Int64, _ count: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(count - digits.utf8.count, 0)) + digits
    }

    private static func floorDivision(_ value: Int64, _ divisor: Int64) -> Int64 {
        value / divisor - (value % divisor < 0 ? 1 : 0)
    }

    private static func days(_ month: Int64, _ year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Converts a Gregorian date to the number of days since 1970.
    private static func ordinal(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        // Years start in March here, so that the leap day is the last day.
        let shifted = month <= 2 ? year - 1 : year
        let era = floorDivision(shifted, 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(_ ordinal: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = ordinal + 719_468
        let era = floorDivision(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let calendarMonth = month < 10 ? month + 3 : month - 9
        let year = yearOfEra + era * 400 + (calendarMonth <= 2 ? 1 : 0)
        return (year, calendarMonth, dayOfYear - (153 * month + 2) / 5 + 1)
    }
}
