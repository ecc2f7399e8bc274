// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The data that a Polling command requests in addition to the manufacture parameter.
public enum NFCFeliCaPollingRequestCode: Int, Sendable {
    /// No further data.
    case noRequest = 0
    /// The system code.
    case systemCode = 1
    /// The data rates.
    case communicationPerformance = 2

    /// No further data.
    @available(*, deprecated, renamed: "noRequest")
    public static var PollingRequestCodeNoRequest: NFCFeliCaPollingRequestCode { .noRequest }
    /// The system code.
    @available(*, deprecated, renamed: "systemCode")
    public static var PollingRequestCodeSystemCode: NFCFeliCaPollingRequestCode { .systemCode }
    /// The data rates.
    @available(*, deprecated, renamed: "communicationPerformance")
    public static var PollingRequestCodeCommunicationPerformance: NFCFeliCaPollingRequestCode {
        .communicationPerformance
    }
}

/// The data that a Polling command requests in addition to the manufacture parameter.
@available(*, deprecated, renamed: "NFCFeliCaPollingRequestCode")
public typealias PollingRequestCode = NFCFeliCaPollingRequestCode

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

/// The answer to a Polling command.
public struct NFCFeliCaPollingResponse {
    /// The manufacture parameter (PMm): 8 bytes.
    public var manufactureParameter: Data
    /// The requested data, 2 bytes; nil when no data were requested or the card does not report them.
    public var requestData: Data?

    /// Creates a value, for example for your own card class. Each argument sets the property of the same name.
    public init(manufactureParameter: Data, requestData: Data?) {
        self.manufactureParameter = manufactureParameter
        self.requestData = requestData
    }
}

/// The status flags of a card's answer (FeliCa Card User's Manual, 4.5).
public struct NFCFeliCaStatusFlag {
    /// 0 when the command succeeded; else `FF`, or a number that identifies the block that failed.
    public var statusFlag1: Int
    /// The cause of the failure, when ``statusFlag1`` is not 0.
    public var statusFlag2: Int

    /// Creates a value, for example for your own card class. Each argument sets the property of the same name.
    public init(statusFlag1: Int, statusFlag2: Int) {
        self.statusFlag1 = statusFlag1
        self.statusFlag2 = statusFlag2
    }
}

/// The kind of encryption that a card supports.
public enum NFCFeliCaEncryptionId: Int, Sendable {
    /// AES.
    case AES = 0x4F
    /// AES and DES.
    case AES_DES = 0x41

    /// AES.
    @available(*, deprecated, renamed: "AES")
    public static var aes: NFCFeliCaEncryptionId { .AES }
    /// AES and DES.
    @available(*, deprecated, renamed: "AES_DES")
    public static var aes_des: NFCFeliCaEncryptionId { .AES_DES }
}

/// The kind of encryption that a card supports.
@available(*, deprecated, renamed: "NFCFeliCaEncryptionId")
public typealias EncryptionId = NFCFeliCaEncryptionId

/// The answer to a Request Service v2 command. (The name is misspelled as in Apple's SDK.)
public struct NFCFeliCaRequsetServiceV2Response {
    /// 0 when the command was carried out.
    public var statusFlag1: Int
    /// The reason, when ``statusFlag1`` is not 0.
    public var statusFlag2: Int
    /// The kind of encryption.
    public var encryptionIdentifier: NFCFeliCaEncryptionId
    /// The AES key version of each node, 2 bytes, least significant first.
    public var nodeKeyVersionListAES: [Data]?
    /// The DES key version of each node, 2 bytes, least significant first.
    public var nodeKeyVersionListDES: [Data]?

    /// Creates a value, for example for your own card class. Each argument sets the property of the same name.
    public init(
        statusFlag1: Int,
        statusFlag2: Int,
        encryptionIdentifier: NFCFeliCaEncryptionId,
        nodeKeyVersionListAES: [Data]?,
        nodeKeyVersionListDES: [Data]?
    ) {
        self.statusFlag1 = statusFlag1
        self.statusFlag2 = statusFlag2
        self.encryptionIdentifier = encryptionIdentifier
        self.nodeKeyVersionListAES = nodeKeyVersionListAES
        self.nodeKeyVersionListDES = nodeKeyVersionListDES
    }
}

/// The answer to a Request Specification Version command.
public struct NFCFeliCaRequestSpecificationVersionResponse {
    /// 0 when the command was carried out.
    public var statusFlag1: Int
    /// The reason, when ``statusFlag1`` is not 0.
    public var statusFlag2: Int
    /// The version of the basic specification: 2 bytes in packed decimal, least significant byte first.
    public var basicVersion: Data?
    /// The versions of options: 2 bytes each in packed decimal, least significant byte first.
    public var optionVersion: Data?

    /// Creates a value, for example for your own card class. Each argument sets the property of the same name.
    public init(statusFlag1: Int, statusFlag2: Int, basicVersion: Data?, optionVersion: Data?) {
        self.statusFlag1 = statusFlag1
        self.statusFlag2 = statusFlag2
        self.basicVersion = basicVersion
        self.optionVersion = optionVersion
    }
}
