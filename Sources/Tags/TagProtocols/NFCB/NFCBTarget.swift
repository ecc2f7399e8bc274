// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// The data that an NFC-B card sends in its ATQB (ISO/IEC 14443-3, 7.9).
public struct NFCBTarget: Sendable, Hashable {
    /// PUPI: four bytes that identify the card; often random.
    public var identifier: [UInt8]
    /// Four bytes: AFI, CRC_B of the application identifiers, number of applications.
    public var applicationData: [UInt8]
    /// Three bytes, or four in an extended ATQB: bit rates, frame size and protocol, frame waiting time and options.
    public var protocolInfo: [UInt8]

    /// Reads an ATQB.
    ///
    /// - Parameter bytes: 50, PUPI, application data and protocol info, without checksum: 12 or 13 bytes.
    /// - Throws: ``TagError`` with `badAnswer`.
    public init(_ bytes: [UInt8]) throws(TagError) {
        guard bytes.count == 12 || bytes.count == 13, bytes[0] == 0x50 else {
            throw TagError(.badAnswer, "The ATQB is not 50 and 11 or 12 bytes (ISO/IEC 14443-3, 7.9).")
        }
        self.identifier = Array(bytes[1..<5])
        self.applicationData = Array(bytes[5..<9])
        self.protocolInfo = Array(bytes[9...])
    }

    /// Whether the card supports ISO-DEP.
    public var isISODEP: Bool { protocolInfo[1] & 0x01 != 0 }
    /// Whether the application data have a proprietary coding (ISO/IEC 14443-3, 7.9.4.6: ADC).
    public var hasProprietaryApplicationData: Bool { protocolInfo[2] & 0x0C == 0 }
    /// Whether blocks may have a card identifier.
    public var supportsCID: Bool { protocolInfo[2] & 0x01 != 0 }
    /// The longest frame that the card accepts, with its checksum.
    public var maximumFrameSize: Int { ISODEPParameters.frameSize(index: protocolInfo[1] >> 4) }
    /// The longest time until the card starts an answer.
    public var frameWaitingTime: Airtime { ISODEPParameters.frameWaitingTime(index: protocolInfo[2] >> 4) }
}
