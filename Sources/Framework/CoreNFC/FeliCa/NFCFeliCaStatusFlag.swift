// SPDX-License-Identifier: Apache-2.0

/// What a card says of how a command went (FeliCa Card User's Manual, 4.5).
public struct NFCFeliCaStatusFlag {
    /// 0 when the command was carried out; `FF` or the number of the block that was not.
    public var statusFlag1: Int
    /// The reason, when ``statusFlag1`` is not 0.
    public var statusFlag2: Int

    /// Creates a value, for a card of one's own for instance; each argument is the property of that name.
    public init(statusFlag1: Int, statusFlag2: Int) {
        self.statusFlag1 = statusFlag1
        self.statusFlag2 = statusFlag2
    }
}
