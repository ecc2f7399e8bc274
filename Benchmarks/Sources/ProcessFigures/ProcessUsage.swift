// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// The resources that this process has used.
public enum ProcessUsage {
    /// Processor time of all threads, in user and kernel mode.
    public static var processorNanoseconds: Int {
        var time = timespec()
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    /// Resident memory, in KB.
    public static var residentKilobytes: Int { status("VmRSS") }

    /// The number of threads.
    public static var threads: Int { status("Threads") }

    /// A number from `/proc/self/status`; 0 when it is missing.
    private static func status(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return line?.split { !$0.isNumber }.first.flatMap { Int($0) } ?? 0
    }
}
