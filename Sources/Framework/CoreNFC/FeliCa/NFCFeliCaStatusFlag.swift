// SPDX-License-Identifier: Apache-2.0

/// The status flags of a card's answer (FeliCa Card User's Manual, 4.5).
public struct NFCFeliCaStatusFlag {
    /// 0 when the command was carried out; else `FF`, or the number of the block that failed.
    public var statusFlag1: Int
    /// The reason, when ``statusFlag1`` is not 0.
    public var statusFlag2: Int

    /// Creates a value, for example for your own card class. Each argument sets the property of the same name.
    public init(statusFlag1: Int, statusFlag2: Int) {
        self.statusFlag1 = statusFlag1
        self.statusFlag2 = statusFlag2
    }
}
