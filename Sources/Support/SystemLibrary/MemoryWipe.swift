// SPDX-License-Identifier: Apache-2.0
import CSystemCalls

/// Overwrites memory that held a secret.
public enum MemoryWipe {
    /// Overwrites memory with zeros, also where the compiler sees that nobody reads it any more.
    public static func wipe(_ memory: UnsafeMutableRawBufferPointer) {
        unsafe ocn_wipe(memory.baseAddress, UInt(memory.count))
    }
}
