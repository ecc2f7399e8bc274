// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import TagProtocols
import Testing

/// Checks what an app is told of the kind of a tag.
@Suite struct `The kind of a tag` {
    /// The tag without its kind.
    private static func plain(_ tag: NFCTag) -> any __NFCTag {
        switch tag {
        case .feliCa(let tag): tag
        case .iso7816(let tag): tag
        case .iso15693(let tag): tag
        case .miFare(let tag): tag
        }
    }

    @Test(
        arguments: [
            (ScriptedTag.vicinityTarget, .ISO15693, [true, false, false, false]),
            (ScriptedTag.feliCaTarget, .feliCa, [false, true, false, false]),
            (ScriptedTag.iso7816Target, .iso7816Compatible, [false, false, true, false]),
            (ScriptedTag.miFareTarget(takesISODEP: false), .miFare, [false, false, false, true]),
        ] as [(TagTarget, __NFCTagType, [Bool])]
    )
    func `A tag is of one kind, by its type and its conversions`(
        target: TagTarget,
        type: __NFCTagType,
        conversions: [Bool]
    ) {
        let tag = Self.plain(ScriptedTag(target).tag)
        #expect(tag.type == type)
        #expect(
            conversions == [
                tag.asNFCISO15693Tag() === tag, tag.asNFCFeliCaTag() === tag, tag.asNFCISO7816Tag() === tag,
                tag.asNFCMiFareTag() === tag,
            ]
        )
        let others = [
            tag.asNFCISO15693Tag() != nil, tag.asNFCFeliCaTag() != nil, tag.asNFCISO7816Tag() != nil,
            tag.asNFCMiFareTag() != nil,
        ]
        #expect(others == conversions)
    }

    @Test func `Values have the phone's numbers`() {
        #expect([__NFCTagType.ISO15693, .feliCa, .iso7816Compatible, .miFare].map(\.rawValue) == [1, 2, 3, 4])
        #expect([NFCMiFareFamily.unknown, .ultralight, .plus, .desfire].map(\.rawValue) == [1, 2, 3, 4])
        #expect([NFCNDEFStatus.notSupported, .readWrite, .readOnly].map(\.rawValue) == [1, 2, 3])
        #expect(
            [NFCFeliCaPollingTimeSlot.max1, .max2, .max4, .max8, .max16].map(\.rawValue) == [0, 1, 3, 7, 15]
        )
        #expect(
            [NFCFeliCaPollingRequestCode.noRequest, .systemCode, .communicationPerformance].map(\.rawValue)
                == [0, 1, 2]
        )
        let statuses: [NFCVASResponse.ErrorCode] = [
            .success, .dataNotFound, .dataNotActivated, .wrongParameters, .wrongLCField, .userIntervention,
            .incorrectData, .unsupportedApplicationVersion,
        ]
        #expect(
            statuses.map(\.rawValue) == [0x9000, 0x6A83, 0x6287, 0x6B00, 0x6700, 0x6984, 0x6A80, 0x6340]
        )
    }

    @Test func `The keys of an error's user info are the phone's`() {
        // Some clients write them out.
        #expect(NFCISO15693TagResponseErrorKey == "ISO15693TagResponseErrorCode")
        #expect(NFCTagResponseUnexpectedLengthErrorKey == "TagResponseInvalidLength")
    }
}
