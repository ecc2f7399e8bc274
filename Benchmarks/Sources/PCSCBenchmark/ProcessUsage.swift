// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// What this process has used.
enum ProcessUsage {
    /// Processor time of all threads, in user and kernel mode.
    static var processorNanoseconds: Int {
        var time = timespec()
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    /// Resident memory, in KB.
    static var residentKilobytes: Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return line?.split { !$0.isNumber }.first.flatMap { Int($0) } ?? 0
    }
}
