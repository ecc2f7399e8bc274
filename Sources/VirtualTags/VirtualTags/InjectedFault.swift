// SPDX-License-Identifier: Apache-2.0

/// The effect of a fault on a tag itself, and not on the frames that it sends.
public enum InjectedFault: Sendable, Hashable {
    /// The power is cut while this command programs the memory, if it does. The reader receives nothing.
    case powerCut(TornWrite)
    /// The tag refuses the command with this 4-bit code, and changes its state like after any refusal.
    case refusal(UInt8)
    /// The tag refuses the command with this 4-bit code if it would program the memory.
    case writeRefusal(UInt8)
}
