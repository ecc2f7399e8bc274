// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Waits for the end of a child process. It holds the thread.
///
/// - Returns: its status, as `waitpid` gives it.
func processEnd(_ process: Int32) async -> Int32 {
    var status: Int32 = 0
    _ = unsafe waitpid(process, &status, 0)
    return status
}
