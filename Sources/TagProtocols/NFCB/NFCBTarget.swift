// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// What an NFC-B card says of itself in its ATQB (ISO/IEC 14443-3, 7.9).
public struct NFCBTarget: Sendable, Hashable {
    /// PUPI: four octets that tell the card apart; often random.
    public var identifier: [UInt8]
    /// Four octets: AFI, CRC_B of the application identifiers, number of applications.
    public var applicationData: [UInt8]
    /// Three octets, or four in an extended ATQB: bit rates, frame size and protocol, frame waiting time and options.
    public var protocolInfo: [UInt8]

    /// Reads an ATQB.
    ///
    /// - Parameter octets: 50, PUPI, application data and protocol info, without checksum: 12 or 13 octets.
    /// - Throws: ``TagError`` with `badAnswer`.
    public init(_ octets: [UInt8]) throws(TagError) {
        guard octets.count == 12 || octets.count == 13, octets[0] == 0x50 else {
            throw TagError(.badAnswer, "The ATQB is not 50 and 11 or 12 octets (ISO/IEC 14443-3, 7.9).")
        }
        self.identifier = Array(octets[1..<5])
        self.applicationData = Array(octets[5..<9])
        self.protocolInfo = Array(octets[9...])
    }

    /// Whether the card speaks ISO-DEP.
    public var isISODEP: Bool { protocolInfo[1] & 0x01 != 0 }
    /// Whether the application data are coded in a way of the card's own (ISO/IEC 14443-3, 7.9.4.6: ADC).
    public var hasProprietaryApplicationData: Bool { protocolInfo[2] & 0x0C == 0 }
    /// Whether blocks may have a card identifier.
    public var supportsCID: Bool { protocolInfo[2] & 0x01 != 0 }
    /// The longest frame that the card takes, with its checksum.
    public var maximumFrameSize: Int { ISODEPParameters.frameSize(index: protocolInfo[1] >> 4) }
    /// How long the card may take to begin an answer.
    public var frameWaitingTime: Airtime { ISODEPParameters.frameWaitingTime(index: protocolInfo[2] >> 4) }
}
