// SPDX-License-Identifier: Apache-2.0

/// The activation data of a Type 4 tag, for NFC-A or NFC-B.
public indirect enum Type4FrontEnd: Sendable, Hashable {
    /// A Type 4A tag.
    ///
    /// - Parameters:
    ///   - uid: the UID, 4, 7 or 10 bytes.
    ///   - atqa: ATQA. The low byte is sent first.
    ///   - sak: SAK. Bit 5 means ISO/IEC 14443-4.
    ///   - ats: the whole answer to RATS with its length byte, without the checksum.
    case nfcA(uid: [UInt8], atqa: UInt16 = 0x0344, sak: UInt8 = 0x20, ats: [UInt8])
    /// A Type 4B tag.
    ///
    /// - Parameters:
    ///   - pupi: the pseudo-unique identifier, 4 bytes.
    ///   - applicationData: 4 bytes of ATQB.
    ///   - protocolInfo: 3 bytes of ATQB.
    case nfcB(pupi: [UInt8], applicationData: [UInt8] = [0, 0, 0, 0], protocolInfo: [UInt8] = [0x00, 0x81, 0x71])

    /// Frame sizes, waiting time and options, as the activation announces them.
    struct Parameters: Sendable {
        /// FSC, the largest frame that the card accepts.
        var frameSize: Int
        /// FWI, the code of the frame waiting time, 0 to 14.
        var waitingTimeInteger: Int
        var supportsCID: Bool
        /// The divisor codes that PPS may select, reader to card and card to reader. 0 is always included.
        var receiveDivisors: Set<UInt8> = [0]
        var sendDivisors: Set<UInt8> = [0]
        var needsSameDivisor = false
    }

    /// The UID, or the PUPI of a Type 4B tag.
    package var identifier: [UInt8] {
        switch self {
        case .nfcA(let uid, _, _, _): uid
        case .nfcB(let pupi, _, _): pupi
        }
    }

    /// The parameters in the activation data (ISO/IEC 14443-4, 5.2; 14443-3, 7.9.4).
    var parameters: Parameters {
        switch self {
        case .nfcA(_, _, _, let ats): Self.parameters(ats: ats)
        case .nfcB(_, _, let info): Self.parameters(protocolInfo: info)
        }
    }

    static func parameters(ats: [UInt8]) -> Parameters {
        // Without a format byte: 32 bytes, FWI 4, and CIDs are supported (ISO/IEC 14443-4, 5.2.3 to 5.2.6).
        var parameters = Parameters(frameSize: 32, waitingTimeInteger: 4, supportsCID: true)
        var interface = ats.dropFirst(2)
        guard ats.count > 1 else { return parameters }
        let format = ats[1]
        parameters.frameSize = size(format & 0x0F)
        if format & 0x10 != 0, let ta = interface.popFirst() {
            for bit in UInt8(0)..<3 {
                if ta & (1 << bit) != 0 { parameters.receiveDivisors.insert(bit + 1) }
                if ta & (0x10 << bit) != 0 { parameters.sendDivisors.insert(bit + 1) }
            }
            parameters.needsSameDivisor = ta & 0x80 != 0
        }
        if format & 0x20 != 0, let tb = interface.popFirst() {
            let integer = Int(tb >> 4)
            parameters.waitingTimeInteger = integer == 15 ? 4 : integer
        }
        if format & 0x40 != 0, let tc = interface.popFirst() {
            parameters.supportsCID = tc & 0x02 != 0
        }
        return parameters
    }

    private static func parameters(protocolInfo: [UInt8]) -> Parameters {
        guard protocolInfo.count >= 3 else {
            return Parameters(frameSize: 32, waitingTimeInteger: 4, supportsCID: false)
        }
        let integer = Int(protocolInfo[2] >> 4)
        return Parameters(
            frameSize: size(protocolInfo[1] >> 4),
            waitingTimeInteger: integer == 15 ? 4 : integer,
            supportsCID: protocolInfo[2] & 0x01 != 0
        )
    }

    private static func size(_ code: UInt8) -> Int {
        NFCBListener.frameSizes[min(Int(code), NFCBListener.frameSizes.count - 1)]
    }
}
