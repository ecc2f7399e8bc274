// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What Linux knows of this process.
enum ProcessStatus {
    /// A number of `/proc/self/status`, such as `VmRSS` in KB; 0 when it is not there.
    static func number(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return line?.split { !$0.isNumber }.first.flatMap { Int($0) } ?? 0
    }
}
