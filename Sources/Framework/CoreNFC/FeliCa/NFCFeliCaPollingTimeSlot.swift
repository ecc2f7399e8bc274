// SPDX-License-Identifier: Apache-2.0

/// The number of time slots in which cards may answer a Polling command.
public enum NFCFeliCaPollingTimeSlot: Int, Sendable {
    /// One slot.
    case max1 = 0
    /// Two slots.
    case max2 = 1
    /// Four slots.
    case max4 = 3
    /// Eight slots.
    case max8 = 7
    /// Sixteen slots.
    case max16 = 15

    /// One slot.
    @available(*, deprecated, renamed: "max1")
    public static var PollingTimeSlotMax1: NFCFeliCaPollingTimeSlot { .max1 }
    /// Two slots.
    @available(*, deprecated, renamed: "max2")
    public static var PollingTimeSlotMax2: NFCFeliCaPollingTimeSlot { .max2 }
    /// Four slots.
    @available(*, deprecated, renamed: "max4")
    public static var PollingTimeSlotMax4: NFCFeliCaPollingTimeSlot { .max4 }
    /// Eight slots.
    @available(*, deprecated, renamed: "max8")
    public static var PollingTimeSlotMax8: NFCFeliCaPollingTimeSlot { .max8 }
    /// Sixteen slots.
    @available(*, deprecated, renamed: "max16")
    public static var PollingTimeSlotMax16: NFCFeliCaPollingTimeSlot { .max16 }
}

/// The number of time slots in which cards may answer a Polling command.
@available(*, deprecated, renamed: "NFCFeliCaPollingTimeSlot")
public typealias PollingTimeSlot = NFCFeliCaPollingTimeSlot
