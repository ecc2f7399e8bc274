// SPDX-License-Identifier: Apache-2.0
import CSystemCalls

/// Overwrites memory that held a secret.
package enum MemoryWipe {
    /// Overwrites memory with zeros, even if the compiler sees that it is not read again.
    package static func wipe(_ memory: UnsafeMutableRawBufferPointer) {
        unsafe ocn_wipe(memory.baseAddress, UInt(memory.count))
    }
}
